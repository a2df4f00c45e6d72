//! The settings of an inspector.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use windlass_net::{TcpListener, ToSocketAddrs, resolve};
use windlass_runtime::Handle;

use crate::guard::Guard;
use crate::inspector::{Inspector, Limits};
use crate::token::Token;

/// Builds an inspector with other settings than those of [`serve`](crate::serve).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::inspector;
///
/// # windlass::block_on(async {
/// let inspector = inspector::Builder::new()
///     .refresh(Duration::from_secs(1))
///     .serve("127.0.0.1:0")
///     .await?;
/// println!("look inside: {}", inspector.url());
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it serves"]
pub struct Builder {
    token: Option<String>,
    runtime: Option<Handle>,
    limits: Limits,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Returns a builder with a random token and two frames a second.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::Builder::new().serve("127.0.0.1:0").await?;
    /// println!("look inside: {}", inspector.url());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new() -> Self {
        Self { token: None, runtime: None, limits: Limits::default() }
    }

    /// Sets the token that each request has to carry, instead of a random one.
    ///
    /// It has 16 to 256 characters out of `a-z`, `A-Z`, `0-9`, `-` and `_`. It must be set if other machines can reach
    /// the inspector. The inspector speaks plain HTTP: on a network that is not your own, bind it to loopback and use a
    /// tunnel.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let builder = windlass::inspector::Builder::new().token("4cJ8wYb2TqR6nE1z");
    /// let inspector = builder.serve("127.0.0.1:0").await?;
    /// assert!(inspector.url().ends_with("/?token=4cJ8wYb2TqR6nE1z"));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets the time between two frames: half a second by default, at least 20 ms.
    ///
    /// If making a frame takes more than half of that time, as with very many tasks, frames come less often.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::Builder::new()
    ///     .refresh(Duration::from_secs(2))
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// println!("look inside: {}", inspector.url());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn refresh(mut self, refresh: Duration) -> Self {
        self.limits.refresh = refresh.max(Duration::from_millis(20));
        self
    }

    /// Sets how long a client may take to receive data before it is dropped: five seconds by default.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::Builder::new()
    ///     .write_timeout(Duration::from_secs(1))
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// println!("look inside: {}", inspector.url());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.limits.write = timeout;
        self
    }

    /// Sets how long a client may take to send its request before it is dropped: five seconds by default.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::Builder::new()
    ///     .header_timeout(Duration::from_secs(1))
    ///     .serve("127.0.0.1:0")
    ///     .await?;
    /// println!("look inside: {}", inspector.url());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.limits.header = timeout;
        self
    }

    /// Sets the runtime to look into: by default, the one that serves the inspector.
    ///
    /// An inspector is served by tasks. If the program keeps all workers and all spares of their runtime stuck, these
    /// tasks do not run, and nothing can be seen. With a small runtime of its own, the inspector answers even then.
    ///
    /// # Examples
    ///
    /// ```
    /// let program = windlass::Runtime::new()?;
    /// let beside = windlass::Builder::new().workers(1).thread_name("inspector").build()?;
    /// let builder = windlass::inspector::Builder::new().runtime(program.handle().clone());
    /// let inspector = beside.block_on(builder.serve("127.0.0.1:0"))?;
    /// println!("look inside: {}", inspector.url());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Binds to the address and serves the inspector on the current runtime, until it shuts down or
    /// [`Inspector::stop`] is called.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `InvalidInput` if the address is not a loopback address and no token was set, or if the
    /// token is invalid. Also returns any error of binding.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::inspector;
    ///
    /// # windlass::block_on(async {
    /// let inspector = inspector::Builder::new().serve("127.0.0.1:0").await?;
    /// println!("look inside: {}", inspector.url());
    /// let open = inspector::Builder::new().serve("0.0.0.0:0").await;
    /// assert!(open.is_err(), "it needs a token");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn serve<A: ToSocketAddrs>(self, address: A) -> io::Result<Inspector> {
        let addresses: Vec<SocketAddr> = resolve(address).await?.collect();
        // All addresses are checked before one is bound, because a name may have several.
        if self.token.is_none() {
            if let Some(open) = addresses.iter().find(|address| !address.ip().is_loopback()) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!(
                        "the inspector would be open to the network at {open}: bind it to 127.0.0.1 and use a tunnel, \
                         or set a token with inspector::Builder::token"
                    ),
                ));
            }
        }
        let token = match &self.token {
            Some(token) => Token::chosen(token)?,
            None => Token::random()?,
        };
        let listener = TcpListener::bind(&addresses[..]).await?;
        let guard = Guard { token, bound: listener.local_addr()? };
        let runtime = self.runtime.unwrap_or_else(Handle::current);
        Ok(Inspector::start(listener, guard, runtime, self.limits))
    }
}
