//! Makes the gRPC service of `tonic.rs`, without a protobuf compiler.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let method = |name: &str, route: &str| {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type("crate::Line")
            .output_type("crate::Line")
            .codec_path("tonic::codec::ProstCodec")
    };
    let echo = Service::builder()
        .name("Echo")
        .package("bridge")
        .method(method("once", "Once").build())
        .method(method("all", "All").client_streaming().server_streaming().build())
        .build();
    Builder::new().compile(&[echo]);
}
