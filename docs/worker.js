// Opened from the disk, a page may start no workers. The search runs in a hidden frame instead, with the same messages.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise(done => {
        const script = inner.document.createElement("script")
        script.src = new URL(url, location.href)
        script.onload = done
        inner.document.body.append(script)
      })
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {
      this.frame.remove()
    }
  }
