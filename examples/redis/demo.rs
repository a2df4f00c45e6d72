//! Tries the server out.

use std::io;
use std::net::SocketAddr;

use windlass::net::TcpStream;

/// Sends every kind of request, and checks the answers.
pub(crate) async fn run(address: SocketAddr) -> io::Result<()> {
    let client = TcpStream::connect(address).await?;
    expect(&client, "ping\r\n", "+PONG\r\n").await?;
    expect(
        &client,
        "set greeting hello ex 100\r\nget greeting\r\nttl greeting\r\n",
        "+OK\r\n$5\r\nhello\r\n:100\r\n",
    )
    .await?;
    expect(&client, "set greeting again nx\r\nget nothing\r\n", "$-1\r\n$-1\r\n").await?;
    expect(&client, "*2\r\n$4\r\nincr\r\n$1\r\nn\r\nincrby n 41\r\n", ":1\r\n:42\r\n").await?;
    expect(&client, "del greeting n nothing\r\nexists greeting\r\n", ":2\r\n:0\r\n").await?;
    expect(&client, "set short 1 px 1\r\n", "+OK\r\n").await?;
    windlass::timer::sleep(std::time::Duration::from_millis(2)).await;
    expect(&client, "get short\r\n", "$-1\r\n").await?;

    let listener = TcpStream::connect(address).await?;
    expect(&listener, "subscribe news\r\n", "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n")
        .await?;
    expect(&client, "publish news now\r\n", ":1\r\n").await?;
    expect(&listener, "", "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\nnow\r\n").await?;

    // Many requests at once, without waiting for an answer.
    let many = 1_000;
    expect(&client, &"ping\r\n".repeat(many), &"+PONG\r\n".repeat(many)).await?;
    expect(&client, "*1\r\n!\r\n", "-ERR Protocol error: expected '$'\r\n").await?;
    println!("all answers are right");
    Ok(())
}

async fn expect(client: &TcpStream, request: &str, answer: &str) -> io::Result<()> {
    client.write_all(request.as_bytes()).await?;
    let mut got = vec![0; answer.len()];
    client.read_exact(&mut got).await?;
    if got != answer.as_bytes() {
        let got = String::from_utf8_lossy(&got).into_owned();
        return Err(io::Error::other(format!(
            "{request:?} was answered with {got:?}, not {answer:?}"
        )));
    }
    println!("{:<55} {:?}", shown(request), shown(answer));
    Ok(())
}

fn shown(text: &str) -> String {
    text.replace("\r\n", " ").chars().take(50).collect()
}
