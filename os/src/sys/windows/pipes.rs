//! The pipes of a child process. The OS can't poll them, so blocking threads read and write.

use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::windows::io::OwnedHandle;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use async_lock::Mutex;
use windlass_sync::primitives::Arc;

use crate::buffered::Buffered;

/// The pipe that a child reads from.
#[derive(Debug)]
pub(crate) struct ChildStdin {
    file: Arc<File>,
    stream: Mutex<Buffered<Arc<File>>>,
}

impl ChildStdin {
    pub(crate) fn new(pipe: process::ChildStdin) -> io::Result<Self> {
        let file = Arc::new(File::from(OwnedHandle::from(pipe)));
        Ok(Self { stream: Mutex::new(Buffered::new(file.clone())), file })
    }

    pub(crate) async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.write_all(buf).await.map(|()| buf.len())
    }

    pub(crate) async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.stream.lock().await.write_all(buf, |_| Ok(())).await
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.get_mut().poll_write(cx, buf, |_| Ok(()))
    }

    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.get_mut().poll_flush(cx)
    }

    pub(crate) fn into_stdio(self) -> io::Result<Stdio> {
        into_stdio(&self.file)
    }
}

/// The pipe that a child writes to.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    file: Arc<File>,
    stream: Mutex<Buffered<Arc<File>>>,
}

impl ChildOutput {
    pub(crate) fn stdout(pipe: process::ChildStdout) -> io::Result<Self> {
        Ok(Self::new(pipe.into()))
    }

    pub(crate) fn stderr(pipe: process::ChildStderr) -> io::Result<Self> {
        Ok(Self::new(pipe.into()))
    }

    fn new(pipe: OwnedHandle) -> Self {
        let file = Arc::new(File::from(pipe));
        Self { stream: Mutex::new(Buffered::new(file.clone())), file }
    }

    pub(crate) async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream.lock().await;
        poll_fn(|cx| stream.poll_read(cx, buf, |_, _| None)).await
    }

    pub(crate) async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.stream.lock().await.read_to_end(buf).await
    }

    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.get_mut().poll_read(cx, buf, |_, _| None)
    }

    pub(crate) fn into_stdio(self) -> io::Result<Stdio> {
        into_stdio(&self.file)
    }
}

/// Converts the file, which may still be shared with a call whose future was dropped.
fn into_stdio(file: &File) -> io::Result<Stdio> {
    file.try_clone().map(Stdio::from)
}
