//! A server that sends back what it reads, for messages of up to a kilobyte.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ADDRESS, say_where};

/// What a connection reads into.
const BUFFER: usize = 1024;

pub(crate) async fn on_windlass() -> io::Result<()> {
    let listener = windlass::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        windlass::spawn(async move {
            let mut buffer = [0; BUFFER];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        });
    }
}

pub(crate) async fn on_tokio() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    loop {
        let (mut stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let mut buffer = [0; BUFFER];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        });
    }
}
