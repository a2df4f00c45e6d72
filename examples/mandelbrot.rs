//! Renders the Mandelbrot set into a PPM file on all cores, and reports the progress to everybody who connects
//! meanwhile. Both run on the same workers.
//!
//! ```sh
//! cargo run --release --example mandelbrot -- picture.ppm 4096
//! nc 127.0.0.1 7878        # in another terminal, while it renders
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use windlass::net::TcpListener;
use windlass::{par, spawn_blocking};

const ITERATIONS: u32 = 1000;

#[windlass::main]
async fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "mandelbrot.ppm".to_owned());
    let size: usize = args.next().and_then(|size| size.parse().ok()).unwrap_or(1024);
    let rows_done = Arc::new(AtomicUsize::new(0));

    // The environment variable `PORT` chooses the port; 0 means any free one. The program prints the address.
    let port = std::env::var("PORT").unwrap_or_else(|_| "7878".to_owned());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("progress at {}", listener.local_addr()?);
    drop(windlass::spawn(serve(listener, rows_done.clone(), size)));

    let start = Instant::now();
    let picture = windlass::compute(move || render(size, &rows_done)).await?;
    println!("{size} x {size} pixels in {:.1?}", start.elapsed());

    // Writing a file blocks: that is what the blocking pool is for.
    spawn_blocking(move || write_ppm(&path, size, &picture)).await?
}

/// Sends each visitor the progress of the picture.
async fn serve(listener: TcpListener, rows_done: Arc<AtomicUsize>, size: usize) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let percent = 100 * rows_done.load(Ordering::Relaxed) / size;
        // A visitor who has left already is no reason to stop.
        let _ = stream.write_all(format!("{percent} % done\n").as_bytes()).await;
    }
}

/// Renders all rows in parallel: each is a job, and idle workers steal from the others.
fn render(size: usize, rows_done: &AtomicUsize) -> Vec<[u8; 3]> {
    let mut picture = vec![[0; 3]; size * size];
    par::chunks_mut(&mut picture, size, |y, row| {
        for (x, pixel) in row.iter_mut().enumerate() {
            let scaled = |i: usize| 3.0 * i as f64 / size as f64;
            *pixel = colour(escape(scaled(x) - 2.25, scaled(y) - 1.5));
        }
        rows_done.fetch_add(1, Ordering::Relaxed);
    });
    picture
}

/// Returns the number of steps after which a point escapes, if it does.
fn escape(re: f64, im: f64) -> Option<u32> {
    let (mut x, mut y) = (0.0, 0.0);
    (0..ITERATIONS).find(|_| {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        x * x + y * y > 4.0
    })
}

fn colour(steps: Option<u32>) -> [u8; 3] {
    steps.map_or([0; 3], |steps| [(steps * 5) as u8, (steps * 11) as u8, (steps * 3 + 60) as u8])
}

fn write_ppm(path: &str, size: usize, picture: &[[u8; 3]]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write!(file, "P6\n{size} {size}\n255\n")?;
    for pixel in picture {
        file.write_all(pixel)?;
    }
    file.flush()?;
    println!("written to {path}");
    Ok(())
}
