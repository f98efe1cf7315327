//! Drives Chromium by its debugging protocol, over two named pipes.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The program, as Debian calls it.
pub const CHROMIUM: &str = "chromium";

/// Longer than any command takes, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser without a window. It ends with this value.
pub struct Browser {
    child: Child,
    folder: PathBuf,
    link: RefCell<Link>,
}

struct Link {
    to: File,
    from: Receiver<Value>,
    number: u64,
    /// What happened besides answers.
    events: Vec<Value>,
}

impl Browser {
    /// Starts a browser.
    pub fn start() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("weir-browser-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (to, from) = (folder.join("to"), folder.join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The shell opens the pipes as the descriptors that Chromium reads and writes.
        let line = "exec \"$0\" \"$@\" 3<\"$WEIR_TO\" 4>\"$WEIR_FROM\"";
        let child = Command::new("sh")
            .args(["-c", line, CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--remote-debugging-pipe", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg("about:blank")
            .env("WEIR_TO", &to)
            .env("WEIR_FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(to).unwrap();
        let mut reader = BufReader::new(File::open(from).unwrap());
        let (sender, from) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            while reader.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop_if(|last| *last == 0);
                let message = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
                if sender.send(message).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
        let link = RefCell::new(Link { to, from, number: 0, events: Vec::new() });
        Self { child, folder, link }
    }

    /// A folder that is removed with the browser.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Opens an address in a new page and waits until it is loaded.
    pub fn open(&self, address: &str) -> Page<'_> {
        let made = self.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let target = &made["targetId"];
        let attached = self.call(
            None,
            "Target.attachToTarget",
            json!({ "targetId": target, "flatten": true }),
        );
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let page = Page { browser: self, session };
        for domain in ["Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        // Things that move would be seen half-way.
        let feature = json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
        page.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
        page.load(address);
        page
    }

    fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let mut link = self.link.borrow_mut();
        link.number += 1;
        let number = link.number;
        let mut message = json!({ "id": number, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        link.to.write_all(&bytes).unwrap();
        loop {
            let answer = link.from.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == number {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            link.events.push(answer);
        }
    }

    /// Waits for an event of a session.
    fn wait(&self, session: &str, method: &str) {
        let mut link = self.link.borrow_mut();
        let is_it = |e: &Value| e["method"] == method && e["sessionId"] == session;
        while !link.events.iter().any(is_it) {
            let event = link.from.recv_timeout(PATIENCE);
            link.events.push(event.unwrap_or_else(|_| panic!("no {method}")));
        }
        link.events.retain(|e| !is_it(e));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A page of a browser.
pub struct Page<'b> {
    browser: &'b Browser,
    session: String,
}

impl Page<'_> {
    fn call(&self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// Goes to an address.
    pub fn load(&self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.browser.wait(&self.session, "Page.loadEventFired");
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn value(&self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The text of an expression.
    pub fn text(&self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&self, expression: &str) {
        let began = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            assert!(began.elapsed() < PATIENCE, "never: {expression}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key, such as `ArrowRight` or `Tab`.
    pub fn press(&self, key: &str) {
        let number = match key {
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            "Home" => 36,
            "End" => 35,
            "Tab" => 9,
            "Enter" => 13,
            " " => 32,
            _ => 0,
        };
        let mut down = json!({
            "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": number,
        });
        if key.chars().count() == 1 {
            down["text"] = key.into();
        }
        if key == "Enter" {
            down["text"] = "\r".into();
        }
        self.call("Input.dispatchKeyEvent", down);
        let up =
            json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": number });
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Types a text into what has the keyboard.
    pub fn write(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Makes the window as narrow as that of a phone.
    pub fn narrow(&self) {
        let size = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Everything that went wrong in the page since the last time.
    pub fn complaints(&self) -> Vec<String> {
        // What has happened by now is in the pipe before this answer.
        self.value("0");
        let mut link = self.browser.link.borrow_mut();
        let mine = |e: &Value| e["sessionId"] == self.session.as_str();
        let bad = |e: &Value| match e["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                e["params"]["type"] == "error" || e["params"]["type"] == "warning"
            }
            Some("Log.entryAdded") => {
                let level = &e["params"]["entry"]["level"];
                level == "error" || level == "warning"
            }
            _ => false,
        };
        let found = link.events.iter().filter(|e| mine(e) && bad(e));
        let found = found.map(|e| e["params"].to_string()).collect();
        link.events.retain(|e| !mine(e));
        found
    }
}
