//! rayon as it is. A server that has it has tokio beside it.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use rayon_figures::Peer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn main() -> ExitCode {
    rayon_figures::main(&Peer { serve, compute: |f| rayon::spawn(f) })
}

fn serve() -> io::Result<SocketAddr> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        while let Ok((stream, _peer)) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    });
    // It goes on as long as the process does.
    std::mem::forget(runtime);
    Ok(address)
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            len => stream.write_all(&buffer[..len]).await?,
        }
    }
}
