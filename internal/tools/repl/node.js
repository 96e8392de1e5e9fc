'use strict';
(async () => {
  const fs = require('fs'), net = require('net'), path = require('path'), util = require('util'), vm = require('vm');
  const inspector = require('inspector'), { createRequire } = require('module');
  const control = 3, output = 4;
  // The driver keeps its own copies of what it uses: the code may replace the originals.
  const { Buffer, JSON, Object, Promise, process, globalThis } = global, { from, concat } = Buffer;
  const { writeSync } = fs, { inspect, types: { isNativeError } } = util, { Script } = vm;
  const streams = [process.stdout, process.stderr], writes = streams.map(s => s.write.bind(s));
  const session = new inspector.Session();
  session.connect();
  const request = session.post.bind(session);
  const post = (method, params) => new Promise((resolve, reject) =>
    request(method, params, (error, result) => error ? reject(error) : resolve(result)));
  // Values come out of the evaluation through this function, as they are.
  let got;
  const keep = '__garuda_' + process.hrtime.bigint();
  const keepQuoted = JSON.stringify(keep);
  Object.defineProperty(globalThis, keep, { value: v => { got = v; }, enumerable: false });
  globalThis.require = createRequire(path.join(process.cwd(), 'repl.js'));
  const world = (await post('Runtime.evaluate', { expression: 'globalThis' })).result.objectId;
  const take = async remote => {
    const value = remote.objectId ? { objectId: remote.objectId }
      : 'unserializableValue' in remote ? { unserializableValue: remote.unserializableValue }
      : 'value' in remote ? { value: remote.value } : {};
    await post('Runtime.callFunctionOn', {
      objectId: world, functionDeclaration: `function (v) { this[${keepQuoted}](v); }`, arguments: [value],
    });
    if (remote.objectId) await post('Runtime.releaseObject', { objectId: remote.objectId });
    return got;
  };
  const show = value => inspect(value, { maxArrayLength: 1000, breakLength: 100 });
  const complain = value => {
    let text = show(value);
    if (isNativeError(value)) {
      text = text.split('\n').filter(l => !/^\s+at .*(\[eval\]|node:inspector|node:internal|new Promise \(<anonymous>\))/.test(l)).join('\n');
    }
    process.stderr.write('Uncaught ' + text + '\n');
  };
  process.on('uncaughtException', complain);
  process.on('unhandledRejection', complain);

  const compiles = text => { try { new Script(text); return true; } catch { return false; } };
  const run = async (code, number) => {
    // An object written on its own is one, and no block.
    if (/^\s*\{/.test(code) && compiles('(' + code + '\n)')) code = '(' + code + '\n)';
    const r = await post('Runtime.evaluate', {
      expression: code + `\n//# sourceURL=repl-${number}`, replMode: true, awaitPromise: true,
    });
    if (r.exceptionDetails) {
      complain(r.exceptionDetails.exception ? await take(r.exceptionDetails.exception) : r.exceptionDetails.text);
      return 'error';
    }
    const value = await take(r.result);
    if (value !== undefined) {
      globalThis._ = value;
      process.stdout.write(show(value) + '\n');
    }
    return 'ok';
  };
  const flushed = write => new Promise(resolve => write('', () => resolve()));
  const answer = text => {
    for (let bytes = from(text); bytes.length > 0;) {
      try { bytes = bytes.subarray(writeSync(output, bytes)); } catch (e) { if (e.code !== 'EAGAIN') throw e; }
    }
  };

  let pending = Buffer.alloc(0), number = 0;
  const field = () => {
    const end = pending.indexOf(0);
    if (end < 0) return undefined;
    const value = pending.subarray(0, end).toString();
    pending = pending.subarray(end + 1);
    return value;
  };
  let token;
  // No file is read here: a read that waits in a thread would hold up the exit.
  for await (const chunk of new net.Socket({ fd: control, writable: false })) {
    pending = concat([pending, chunk]);
    for (;;) {
      if (token === undefined) token = field();
      const code = token === undefined ? undefined : field();
      if (code === undefined) break;
      let status = 'error';
      try { status = await run(code, ++number); } catch (e) { complain(e); }
      for (const write of writes) await flushed(write);
      answer('\0' + token + ' ' + status + '\0');
      token = undefined;
    }
  }
  process.exit(0);
})();
