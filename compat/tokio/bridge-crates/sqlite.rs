//! sqlx with SQLite, unmodified inside of our tasks.

use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::SqlitePoolOptions;
use windlass::Runtime;
use windlass::tokio::BuilderExt;

fn bridged() -> Runtime {
    windlass::Builder::new().workers(2).with_tokio().build().unwrap()
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
