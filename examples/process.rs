//! Child processes: capturing their output, piping one into another, killing one, and reading their
//! errors line by line.
//!
//! ```text
//! cargo run --release --example process
//! ```

use std::io;
use std::process::Stdio;
use std::time::Duration;

use futures_lite::{AsyncBufReadExt, StreamExt, io::BufReader};
use windlass::process::Command;
use windlass::timer::timeout;

#[windlass::main]
async fn main() -> io::Result<()> {
    // This program again: every system has it.
    match std::env::args().nth(1).as_deref() {
        Some("shout") => shout().await,
        Some("nap") => loop {
            windlass::timer::sleep(Duration::from_secs(3600)).await;
        },
        _ => parent().await,
    }
}

/// The child: writes its input in capitals, and reports its progress on standard error.
async fn shout() -> io::Result<()> {
    let mut lines = BufReader::new(windlass::io::stdin()).lines();
    let (out, errors) = (windlass::io::stdout(), windlass::io::stderr());
    let mut count = 0;
    while let Some(line) = lines.next().await {
        out.write_all(format!("{}\n", line?.to_uppercase()).as_bytes()).await?;
        count += 1;
        errors.write_all(format!("line {count} is done\n").as_bytes()).await?;
    }
    Ok(())
}

async fn parent() -> io::Result<()> {
    let this = std::env::current_exe()?;

    // Feed it, follow its errors line by line, and read its output, all at the same time.
    let mut child = Command::new(&this)
        .arg("shout")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take().expect("it was piped");
    let feeding = windlass::spawn(async move {
        for line in ["one rope", "two hands", "three turns"] {
            stdin.write_all(format!("{line}\n").as_bytes()).await?;
        }
        Ok::<_, io::Error>(()) // and the child sees the end
    });
    let mut errors = BufReader::new(child.stderr.take().expect("it was piped")).lines();
    let following = windlass::spawn(async move {
        while let Some(line) = errors.next().await {
            println!("  the child says: {}", line?);
        }
        Ok::<_, io::Error>(())
    });
    let output = child.wait_with_output().await?;
    feeding.await??;
    following.await??;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    println!("it ended with {}", output.status);

    // A child that never ends is killed when its time is over.
    let nap = Command::new(&this).arg("nap").kill_on_drop(true).status();
    match timeout(Duration::from_millis(200), nap).await {
        Ok(status) => println!("the nap ended with {}", status?),
        Err(_) => println!("the nap took too long, and was ended"),
    }
    Ok(())
}
