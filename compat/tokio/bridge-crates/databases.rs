//! Drivers of databases, unmodified inside of our tasks. Those that need a server are skipped, with a message, where
//! the script has found none.

use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqlitePoolOptions;
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
        println!("skipped: {variable} is not set, for there is no such server here");
    }
    value
}

#[test]
fn sqlx_with_sqlite() {
    let runtime = bridged();
    let task = runtime.spawn(async {
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(10))
            .connect("sqlite::memory:")
            .await
            .unwrap();
        sqlx::query("CREATE TABLE numbers (number INTEGER)").execute(&pool).await.unwrap();
        let inserts: Vec<_> = (0..100_i64)
            .map(|number| {
                let pool = pool.clone();
                windlass::spawn(async move {
                    let insert = sqlx::query("INSERT INTO numbers VALUES (?)").bind(number);
                    insert.execute(&pool).await.unwrap();
                })
            })
            .collect();
        for insert in inserts {
            insert.await.unwrap();
        }
        let sum = sqlx::query("SELECT SUM(number) FROM numbers").fetch_one(&pool).await.unwrap();
        let sum: i64 = sum.get(0);
        pool.close().await;
        sum
    });
    assert_eq!(runtime.block_on(task).unwrap(), 4_950);
    assert!(runtime.shutdown(Duration::from_secs(10)).is_clean());
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
