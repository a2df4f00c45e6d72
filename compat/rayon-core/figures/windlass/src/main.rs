//! rayon on windlass: iterators and connections share the workers of the global runtime.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use rayon_figures::Peer;
use windlass::net::{TcpListener, TcpStream};

fn main() -> ExitCode {
    rayon_figures::main(&Peer { serve, compute: |f| rayon::spawn(f) })
}

fn serve() -> io::Result<SocketAddr> {
    let listener = windlass::block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    drop(windlass::spawn(async move {
        while let Ok((stream, _peer)) = listener.accept().await {
            drop(windlass::spawn(echo(stream)));
        }
    }));
    Ok(address)
}

async fn echo(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            len => stream.write_all(&buffer[..len]).await?,
        }
    }
}
