//! sqlx with PostgreSQL, unmodified inside of our tasks: its pool, its sockets, its timers.
//! Skipped, with a message, where the script has found no PostgreSQL.

use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use windlass::Runtime;
use windlass::tokio::BuilderExt;

fn bridged() -> Runtime {
    windlass::Builder::new().workers(2).with_tokio().build().unwrap()
}

/// The options for the server that the script has started.
fn server() -> Option<PgConnectOptions> {
    let Ok(address) = std::env::var("BRIDGE_POSTGRES") else {
        println!("skipped: BRIDGE_POSTGRES is not set, because there is no such server here");
        return None;
    };
    let (host, port) = address.split_once(':').unwrap();
    let options = PgConnectOptions::new_without_pgpass().host(host).port(port.parse().unwrap());
    Some(options.username("postgres").database("postgres"))
}

#[test]
fn sqlx_with_postgresql() {
    let Some(options) = server() else { return };
    let runtime = bridged();
    let task = runtime.spawn(async move {
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(30))
            .connect_with(options)
            .await
            .unwrap();
        sqlx::query("CREATE TABLE numbers (number BIGINT)").execute(&pool).await.unwrap();
        // More tasks than connections, so most of them wait for the pool.
        let inserts: Vec<_> = (0..100_i64)
            .map(|number| {
                let pool = pool.clone();
                windlass::spawn(async move {
                    let mut transaction = pool.begin().await.unwrap();
                    let insert = sqlx::query("INSERT INTO numbers VALUES ($1)").bind(number);
                    insert.execute(&mut *transaction).await.unwrap();
                    transaction.commit().await.unwrap();
                })
            })
            .collect();
        for insert in inserts {
            insert.await.unwrap();
        }
        let row = sqlx::query("SELECT SUM(number)::BIGINT FROM numbers").fetch_one(&pool).await;
        let sum: i64 = row.unwrap().get(0);
        sqlx::query("DROP TABLE numbers").execute(&pool).await.unwrap();
        pool.close().await;
        sum
    });
    assert_eq!(runtime.block_on(task).unwrap(), 4_950);
    assert!(runtime.shutdown(Duration::from_secs(10)).is_clean());
}

/// A query whose future is dropped leaves a pool that works.
#[test]
fn a_query_that_is_given_up_leaves_the_pool_in_order() {
    let Some(options) = server() else { return };
    let runtime = bridged();
    let task = runtime.spawn(async move {
        let pool = PgPoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
        for _ in 0..10 {
            let slow = sqlx::query("SELECT pg_sleep(0.05)").execute(&pool);
            let given_up = windlass::timer::timeout(Duration::from_millis(5), slow).await;
            assert!(given_up.is_err(), "it sleeps for longer");
            let row = sqlx::query("SELECT 7::BIGINT").fetch_one(&pool).await.unwrap();
            assert_eq!(row.get::<i64, _>(0), 7);
        }
        pool.close().await;
    });
    runtime.block_on(task).unwrap();
}
