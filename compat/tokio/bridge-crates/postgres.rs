//! tokio-postgres, unmodified inside of our tasks, and over our streams. Skipped, with a message,
//! where the script has found no PostgreSQL.

use windlass::Runtime;
use windlass::net::TcpStream;
use windlass::tokio::{BuilderExt, Io};

fn bridged() -> Runtime {
    windlass::Builder::new().workers(2).with_tokio().build().unwrap()
}

/// The value of a variable that the script sets for a server it has started.
fn server(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        println!("skipped: {variable} is not set, because there is no such server here");
    }
    value
}

#[test]
fn tokio_postgres_over_the_bridge_and_over_our_streams() {
    let Some(address) = server("BRIDGE_POSTGRES") else { return };
    let config = {
        let mut config = tokio_postgres::Config::new();
        let (host, port) = address.split_once(':').unwrap();
        config.host(host).port(port.parse().unwrap()).user("postgres").dbname("postgres");
        config
    };
    let sum = "SELECT SUM(number) FROM generate_series(1, 100) AS number";
    // The driver's own sockets and tasks.
    let runtime = bridged();
    let task = runtime.spawn({
        let config = config.clone();
        async move {
            let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
            drop(tokio::spawn(connection));
            client.query_one(sum, &[]).await.unwrap().get::<_, i64>(0)
        }
    });
    assert_eq!(runtime.block_on(task).unwrap(), 5_050);
    // Ours, with no tokio runtime in sight.
    let plain = windlass::Runtime::new().unwrap();
    let task = plain.spawn(async move {
        let stream = Io::new(TcpStream::connect(&*address).await.unwrap());
        let (client, connection) = config.connect_raw(stream, tokio_postgres::NoTls).await.unwrap();
        drop(windlass::spawn(connection));
        client.query_one(sum, &[]).await.unwrap().get::<_, i64>(0)
    });
    assert_eq!(plain.block_on(task).unwrap(), 5_050);
}
