// Runs Perfetto's trace processor, as the Perfetto UI has it (engine_bundle.js and a WebAssembly module), outside of
// a browser: node perfetto_engine.mjs DIRECTORY. Requests of its RPC protocol come by standard input, answers go to
// standard output.

import { readFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";

const directory = process.argv[2];
const bytes = (file) => new Uint8Array(readFileSync(join(directory, file))).buffer;

// The engine is a web worker. This is what it wants to find there; fetch and process would tell it that it is not one.
class XMLHttpRequest {
  open(_method, url) {
    this.url = url;
  }
  send() {
    this.response = bytes(basename(this.url));
  }
}
const self = { location: { href: "http://localhost/" } };
const scope = { self, XMLHttpRequest, WorkerGlobalScope: class {}, process: undefined, fetch: undefined };
const source = readFileSync(join(directory, "engine_bundle.js"), "utf8");
new Function(...Object.keys(scope), source)(...Object.values(scope));

const port = {
  postMessage(answer) {
    for (let written = 0; written < answer.length; ) written += writeSync(1, answer, written);
  },
};
self.onmessage({ data: port });
process.stdin.on("data", (request) => port.onmessage({ data: new Uint8Array(request) }));
