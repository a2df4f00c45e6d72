//! Files and directories.

mod common;

use std::future::Future;
use std::io::{ErrorKind, SeekFrom};

use common::{TempDir, poll_once, run};
use futures_lite::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, StreamExt};
use windlass_os::fs::{self, DirBuilder, File, OpenOptions};
use windlass_runtime::Handle;

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}

async fn read_write(path: &std::path::Path) -> File {
    File::options().read(true).write(true).create(true).truncate(true).open(path).await.unwrap()
}

#[test]
fn whole_files_are_written_and_read() {
    run(|| async {
        let dir = TempDir::new();
        let path = dir.path("whole");
        let bytes = pattern(5 << 20);
        fs::write(&path, &bytes).await.unwrap();
        assert!(fs::read(&path).await.unwrap() == bytes);
        fs::write(&path, "text").await.unwrap();
        assert_eq!(fs::read_to_string(&path).await.unwrap(), "text");
        let missing = fs::read(dir.path("missing")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn names_and_directories() {
    run(|| async {
        let dir = TempDir::new();
        let path = |name: &str| dir.path(name);
        fs::write(path("a"), "1").await.unwrap();
        assert_eq!(fs::copy(path("a"), path("b")).await.unwrap(), 1);
        fs::rename(path("b"), path("c")).await.unwrap();
        fs::hard_link(path("c"), path("d")).await.unwrap();
        assert!(!fs::try_exists(path("b")).await.unwrap());
        assert_eq!(fs::read(path("d")).await.unwrap(), b"1");
        let mut permissions = fs::metadata(path("d")).await.unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(path("d"), permissions.clone()).await.unwrap();
        assert!(fs::metadata(path("c")).await.unwrap().permissions().readonly());
        #[allow(clippy::permissions_set_readonly_false, reason = "the file goes next")]
        permissions.set_readonly(false);
        fs::set_permissions(path("d"), permissions).await.unwrap();
        fs::remove_file(path("d")).await.unwrap();

        fs::create_dir(path("one")).await.unwrap();
        let again = fs::create_dir(path("one")).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        fs::create_dir_all(path("one/two/three")).await.unwrap();
        DirBuilder::new().recursive(true).create(path("one/two/four")).await.unwrap();
        fs::remove_dir(path("one/two/four")).await.unwrap();
        assert!(fs::remove_dir(path("one")).await.is_err());
        let real = fs::canonicalize(path("one/two/../two/three")).await.unwrap();
        assert!(real.ends_with("one/two/three"));
        fs::remove_dir_all(path("one")).await.unwrap();
        assert!(!fs::try_exists(path("one")).await.unwrap());
    });
}

#[test]
#[cfg(unix)]
fn symbolic_links_and_modes() {
    use std::os::unix::fs::PermissionsExt;

    run(|| async {
        let dir = TempDir::new();
        fs::write(dir.path("file"), "x").await.unwrap();
        fs::symlink("file", dir.path("link")).await.unwrap();
        assert_eq!(fs::read_link(dir.path("link")).await.unwrap().to_str(), Some("file"));
        assert_eq!(fs::read(dir.path("link")).await.unwrap(), b"x");
        assert!(fs::symlink_metadata(dir.path("link")).await.unwrap().is_symlink());
        assert!(fs::metadata(dir.path("link")).await.unwrap().is_file());

        DirBuilder::new().mode(0o700).create(dir.path("private")).await.unwrap();
        let mode = |metadata: std::fs::Metadata| metadata.permissions().mode() & 0o777;
        assert_eq!(mode(fs::metadata(dir.path("private")).await.unwrap()), 0o700);
        let secret = dir.path("secret");
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&secret).await.unwrap();
        assert_eq!(mode(fs::metadata(&secret).await.unwrap()), 0o600);
    });
}

#[test]
fn directories_are_listed_in_portions() {
    run(|| async {
        let dir = TempDir::new();
        for count in [0, 1, 63, 64, 65, 200] {
            let path = dir.path(format!("of-{count}"));
            fs::create_dir(&path).await.unwrap();
            for i in 0..count {
                fs::write(path.join(i.to_string()), "").await.unwrap();
            }
            let mut names = Vec::new();
            let mut entries = fs::read_dir(&path).await.unwrap();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                assert!(entry.file_type().await.unwrap().is_file());
                assert_eq!(entry.metadata().await.unwrap().len(), 0);
                assert_eq!(entry.path(), path.join(entry.file_name()));
                names.push(entry.file_name().into_string().unwrap().parse::<u32>().unwrap());
            }
            assert!(entries.next_entry().await.unwrap().is_none());
            names.sort_unstable();
            assert!(names.into_iter().eq(0..count));
            let stream = fs::read_dir(&path).await.unwrap();
            assert_eq!(stream.count().await, count as usize);
        }
        assert!(fs::read_dir(dir.path("missing")).await.is_err());
    });
}

#[test]
fn the_cursor_follows_reads_writes_and_seeks() {
    run(|| async {
        let dir = TempDir::new();
        let file = read_write(&dir.path("cursor")).await;
        file.write_all(b"0123456789").await.unwrap();
        assert_eq!(file.seek(SeekFrom::Start(2)).await.unwrap(), 2);
        let mut three = [0; 3];
        file.read_exact(&mut three).await.unwrap();
        assert_eq!(&three, b"234");
        assert_eq!(file.write(b"ab").await.unwrap(), 2);
        assert_eq!(file.seek(SeekFrom::Current(-1)).await.unwrap(), 6);
        let mut rest = vec![b'>'];
        assert_eq!(file.read_to_end(&mut rest).await.unwrap(), 4);
        assert_eq!(rest, b">b789");
        assert_eq!(file.read(&mut three).await.unwrap(), 0);
        assert_eq!(file.read(&mut []).await.unwrap(), 0);
        assert!(file.seek(SeekFrom::Current(-1000)).await.is_err());
        assert_eq!(file.seek(SeekFrom::End(-2)).await.unwrap(), 8);
        let error = file.read_exact(&mut three).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        file.set_len(4).await.unwrap();
        assert_eq!(file.metadata().await.unwrap().len(), 4);
        file.sync_data().await.unwrap();
        file.sync_all().await.unwrap();
        assert_eq!(fs::read(dir.path("cursor")).await.unwrap(), b"0123");
    });
}

/// The result of the first seek was returned to the second, which then did nothing.
#[test]
fn a_seek_that_was_given_up_does_not_answer_for_a_later_one() {
    run(|| async {
        let dir = TempDir::new();
        let file = read_write(&dir.path("file")).await;
        file.write_all(b"0123456789").await.unwrap();
        let give_up = |position| {
            let file = &file;
            async move { drop(poll_once(&mut Box::pin(file.seek(position))).await) }
        };
        give_up(SeekFrom::Start(0)).await;
        let mut three = [0; 3];
        file.read_exact(&mut three).await.unwrap();
        assert_eq!(&three, b"012");
        assert_eq!(file.seek(SeekFrom::Start(0)).await.unwrap(), 0);
        file.read_exact(&mut three).await.unwrap();
        assert_eq!(&three, b"012");

        give_up(SeekFrom::Start(1)).await;
        file.write_all(b"x").await.unwrap();
        assert_eq!(file.seek(SeekFrom::Start(1)).await.unwrap(), 1);
        file.read_exact(&mut three).await.unwrap();
        assert_eq!(&three, b"x23");

        give_up(SeekFrom::End(0)).await;
        file.write_all_at(b"more", 10).await.unwrap();
        assert_eq!(file.seek(SeekFrom::End(0)).await.unwrap(), 14);
    });
}

/// The same through the traits, of which a caller that gives up tells nobody.
#[test]
fn a_seek_that_was_given_up_is_over_with_the_next_read_or_write() {
    run(|| async {
        let dir = TempDir::new();
        let mut file = read_write(&dir.path("file")).await;
        file.write_all(b"0123456789").await.unwrap();
        drop(poll_once(&mut AsyncSeekExt::seek(&mut file, SeekFrom::Start(0))).await);
        let mut three = [0; 3];
        AsyncReadExt::read_exact(&mut file, &mut three).await.unwrap();
        assert_eq!(AsyncSeekExt::seek(&mut file, SeekFrom::Start(0)).await.unwrap(), 0);
        AsyncReadExt::read_exact(&mut file, &mut three).await.unwrap();
        assert_eq!(&three, b"012");
    });
}

#[test]
fn positioned_access_leaves_the_cursor_alone_and_goes_on_side_by_side() {
    run(|| async {
        let dir = TempDir::new();
        let file = std::sync::Arc::new(read_write(&dir.path("positions")).await);
        let tasks: Vec<_> = (0..16_u64)
            .map(|i| {
                let file = file.clone();
                windlass_runtime::spawn(async move {
                    assert_eq!(file.write_at(&[i as u8; 1000], i * 1000).await.unwrap(), 1000);
                    let mut back = [0; 1000];
                    assert_eq!(file.read_at(&mut back, i * 1000).await.unwrap(), 1000);
                    assert_eq!(back, [i as u8; 1000]);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(file.read_at(&mut [0; 10], 16_000).await.unwrap(), 0);
        #[cfg(unix)]
        assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 0);
    });
}

#[test]
fn the_traits_of_futures_io_work() {
    run(|| async {
        let dir = TempDir::new();
        let mut file = read_write(&dir.path("traits")).await;
        let bytes = pattern(5 << 20);
        AsyncWriteExt::write_all(&mut file, &bytes).await.unwrap();
        file.flush().await.unwrap();
        AsyncSeekExt::seek(&mut file, SeekFrom::Start(1)).await.unwrap();
        let mut back = Vec::new();
        AsyncReadExt::read_to_end(&mut file, &mut back).await.unwrap();
        assert!(back == bytes[1..]);
        file.close().await.unwrap();
    });
}

#[test]
fn the_error_of_a_write_that_nobody_waited_for_is_told_by_the_flush() {
    run(|| async {
        let dir = TempDir::new();
        fs::write(dir.path("read-only"), "x").await.unwrap();
        let mut file = File::open(dir.path("read-only")).await.unwrap();
        assert_eq!(AsyncWriteExt::write(&mut file, b"y").await.unwrap(), 1);
        assert!(file.flush().await.is_err());
        file.flush().await.unwrap();
        assert_eq!(AsyncWriteExt::write(&mut file, b"y").await.unwrap(), 1);
        assert!(file.sync_all().await.is_err());
        // One that waits is told at once.
        assert!(File::write(&file, b"y").await.is_err());
    });
}

#[test]
fn appending_goes_to_the_end_and_clones_share_the_cursor() {
    run(|| async {
        let dir = TempDir::new();
        let path = dir.path("log");
        let log = OpenOptions::new().append(true).create(true).open(&path).await.unwrap();
        log.write_all(b"one ").await.unwrap();
        fs::write(&path, "cut ").await.unwrap();
        log.write_all(b"two").await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), b"cut two");

        let file = File::open(&path).await.unwrap();
        let clone = file.try_clone().await.unwrap();
        let mut four = [0; 4];
        file.read_exact(&mut four).await.unwrap();
        let mut rest = Vec::new();
        clone.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"two");
        assert!(File::create_new(&path).await.is_err());
    });
}

/// A pipe stands in for a slow disk: a read of it takes as long as the test likes.
#[cfg(unix)]
fn slow_file() -> (File, std::os::unix::net::UnixStream) {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    (File::from_std(std::os::fd::OwnedFd::from(ours).into()), theirs)
}

#[test]
#[cfg(unix)]
fn a_read_that_was_given_up_leaves_its_bytes_to_the_next() {
    use std::io::Write;

    run(|| async {
        let (file, mut disk) = slow_file();
        let mut buf = [0; 16];
        for _ in 0..3 {
            assert!(common::poll_once(&mut Box::pin(file.read(&mut buf))).await.is_none());
        }
        disk.write_all(b"hello").unwrap();
        assert_eq!(file.read(&mut buf[..2]).await.unwrap(), 2);
        assert_eq!(&buf[..2], b"he");
        drop(disk);
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"llo");
        assert_eq!(file.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
#[cfg(unix)]
fn a_file_that_takes_its_time_holds_up_no_worker() {
    within_one_worker(|| async {
        let (file, disk) = slow_file();
        let reading = windlass_runtime::spawn(async move { file.read(&mut [0; 16]).await });
        for _ in 0..100 {
            windlass_runtime::yield_now().await;
        }
        drop(disk);
        assert_eq!(reading.await.unwrap().unwrap(), 0);
    });
}

#[cfg(unix)]
fn within_one_worker<Fut: Future<Output = ()> + Send + 'static>(
    test: impl FnOnce() -> Fut + Send + 'static,
) {
    common::within_deadline(move || {
        let runtime = windlass_runtime::Builder::new().workers(1).build().unwrap();
        runtime.block_on(runtime.spawn(async move { test().await })).unwrap();
    });
}

#[test]
fn taking_the_file_of_std_back_finds_the_cursor_in_its_place() {
    use std::io::Read;

    run(|| async {
        let dir = TempDir::new();
        fs::write(dir.path("back"), "0123456789").await.unwrap();
        let file = File::open(dir.path("back")).await.unwrap();
        file.read_exact(&mut [0; 4]).await.unwrap();
        let mut rest = String::new();
        file.into_std().await.unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "456789");
    });
}

#[test]
fn a_runtime_that_has_shut_down_is_an_error_and_no_hang() {
    common::within_deadline(|| {
        let (first, second) = (common::runtime(), common::runtime());
        let handle = first.handle().clone();
        assert!(first.shutdown(common::DEADLINE).is_clean());
        second.block_on(async move {
            let mut reading = Box::pin(fs::read("Cargo.toml"));
            let result = std::future::poll_fn(|cx| {
                let _entered = handle.enter();
                reading.as_mut().poll(cx)
            })
            .await;
            assert!(result.is_err());
        });
    });
}

/// Awaits a call, and returns how many closures it has had run on the blocking pool.
async fn hops<T>(call: impl Future<Output = std::io::Result<T>>) -> u64 {
    let runtime = Handle::current();
    let before = runtime.metrics().blocking_wait.count();
    call.await.unwrap();
    runtime.metrics().blocking_wait.count() - before
}

#[test]
fn each_call_is_one_hop_however_much_it_moves() {
    run(|| async {
        let dir = TempDir::new();
        let path = |name: &str| dir.path(name);
        let bytes = pattern(5 << 20);
        assert_eq!(hops(fs::create_dir_all(path("a/b/c"))).await, 1);
        assert_eq!(hops(fs::write(path("whole"), &bytes)).await, 1);
        assert_eq!(hops(fs::read(path("whole"))).await, 1);
        assert_eq!(hops(fs::copy(path("whole"), path("copy"))).await, 1);
        assert_eq!(hops(fs::metadata(path("copy"))).await, 1);
        assert_eq!(hops(fs::rename(path("copy"), path("moved"))).await, 1);
        assert_eq!(hops(File::open(path("moved"))).await, 1);
        let file = File::open(path("moved")).await.unwrap();
        let mut all = Vec::new();
        assert_eq!(hops(file.read_to_end(&mut all)).await, 1);
        assert!(all == bytes);
        // None if the OS can tell that they are in memory.
        assert!(hops(file.read_at(&mut [0; 1000], 0)).await <= 1);
        assert_eq!(hops(fs::remove_dir_all(path("a"))).await, 1);
    });
}
