//! The crate `redis`, unmodified inside of our tasks, and over our streams. Skipped, with a
//! message, where the script has found no redis-server.

use redis::aio::MultiplexedConnection;
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
fn redis_over_the_bridge() {
    let Some(address) = server("BRIDGE_REDIS") else { return };
    let runtime = bridged();
    let task = runtime.spawn(async move {
        let client = redis::Client::open(format!("redis://{address}/")).unwrap();
        let connection = client.get_multiplexed_async_connection().await.unwrap();
        let commands: Vec<_> = (0..100)
            .map(|number| {
                let mut connection = connection.clone();
                windlass::spawn(async move {
                    let mut command = redis::cmd("INCRBY");
                    command.arg("sum").arg(number);
                    command.query_async::<i64>(&mut connection).await.unwrap()
                })
            })
            .collect();
        for command in commands {
            command.await.unwrap();
        }
        let mut connection = connection;
        redis::cmd("GET").arg("sum").query_async::<i64>(&mut connection).await.unwrap()
    });
    assert_eq!(runtime.block_on(task).unwrap(), 4_950);
}

/// The same with no tokio runtime in the process: the crate is given a stream of ours, and its task is one of ours.
#[test]
fn redis_over_our_streams() {
    let Some(address) = server("BRIDGE_REDIS") else { return };
    let runtime = Runtime::new().unwrap();
    let task = runtime.spawn(async move {
        assert!(tokio::runtime::Handle::try_current().is_err(), "there is a tokio runtime");
        let stream = Io::new(TcpStream::connect(&*address).await.unwrap());
        let info = redis::RedisConnectionInfo::default();
        let (mut connection, driver) = MultiplexedConnection::new(&info, stream).await.unwrap();
        drop(windlass::spawn(driver));
        let commands: Vec<_> = (0..100)
            .map(|number| {
                let mut connection = connection.clone();
                windlass::spawn(async move {
                    let mut command = redis::cmd("INCRBY");
                    command.arg("sum of ours").arg(number);
                    command.query_async::<i64>(&mut connection).await.unwrap()
                })
            })
            .collect();
        for command in commands {
            command.await.unwrap();
        }
        let mut pipeline = redis::pipe();
        pipeline.set("greeting", "hello").ignore().get("greeting").get("sum of ours");
        pipeline.query_async::<(String, i64)>(&mut connection).await.unwrap()
    });
    assert_eq!(runtime.block_on(task).unwrap(), ("hello".to_owned(), 4_950));
}

/// A server that goes away is an error of the command, and not a hang.
#[test]
fn a_server_that_goes_away_is_an_error() {
    let runtime = bridged();
    let task = runtime.spawn(async move {
        let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = windlass::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            // The first words, and then the end.
            stream.read(&mut [0; 16]).await.unwrap();
        });
        let client = redis::Client::open(format!("redis://{address}/")).unwrap();
        let answer = match client.get_multiplexed_async_connection().await {
            Ok(mut connection) => redis::cmd("PING").query_async::<String>(&mut connection).await,
            Err(error) => Err(error),
        };
        server.await.unwrap();
        answer.is_err()
    });
    assert!(runtime.block_on(task).unwrap());
}
