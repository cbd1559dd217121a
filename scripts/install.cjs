// Installs the dependencies when they are missing, stale or broken. Runs on Node 20 with built-in modules only.
// A stamp, written last, says which lock file the tree was installed from: an interrupted install has no stamp, so the
// next run starts it again from nothing.
const { spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const ownNode = require('../bin/own-node.cjs');
const { cause, causeOfError, lastLines } = require('./install-failure.cjs');
const { acquireLock } = require('./install-lock.cjs');

// Measured: 363 MB in node_modules for all packages of one platform; npm's own cache comes on top.
const NEEDED_MEGABYTES = 450;
const EXIT_INTERRUPTED = 130;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
// npm finishes what it unpacks before it listens; people who press Ctrl-C do not wait that long.
const NPM_GRACE_MS = 500;
const TICK_MS = 500;
const PLAIN_EVERY_MS = 15_000;

/** What was done, or undefined when it could not be done (the message is on the screen, the exit code set). */
async function ensureInstalled(root) {
  // Whoever read our messages may go away in the middle; the install goes on.
  process.stderr.on('error', () => undefined);
  const report = { pid: process.pid, root, hostNode: hostNode(), installed: null };
  try {
    const wanted = wantedTree(root);
    if (isFresh(root, wanted)) return report;
    const blocked = whyNot(root);
    return blocked === undefined ? await installOnce(root, wanted, report) : ownNode.refuse(blocked);
  } catch (error) {
    // Files we cannot read or write: a full disk, rights, something strange in our place.
    if (error.syscall === undefined && !(error instanceof SyntaxError)) throw error;
    return ownNode.refuse(causeOfError(error, root));
  }
}

async function installOnce(root, wanted, report) {
  const lock = await acquireLock(path.join(root, '.slipway', 'install.lock'), say);
  try {
    return isFresh(root, wanted) ? report : await install(root, wanted, { report, lock });
  } finally {
    lock.release();
  }
}

async function install(root, wanted, { report, lock }) {
  const started = Date.now();
  const log = path.join(root, '.slipway', 'install.log');
  const progress = showProgress(root, wanted, started);
  fs.rmSync(stampFile(root), { force: true, recursive: true });
  try {
    const { code, signal } = await runNpm(root, log, lock);
    const output = fs.readFileSync(log, 'utf8');
    const time = seconds(Date.now() - started);
    if (signal !== undefined) return interrupted(signal, progress);
    // npm calls a file that it could not unpack a warning, and may end well without it.
    if (code !== 0 || output.includes('TAR_ENTRY_ERROR')) {
      progress.end(`✖ dependencies  npm ci failed after ${time}`);
      return ownNode.refuse(`${cause(output, root)}\n\n${lastLines(output, 20)}\n\n(whole log: ${log})`);
    }
    ownNode.dropUnusable(root);
    fs.writeFileSync(stampFile(root), JSON.stringify({ digest: wanted.digest }));
    const packages = countInstalled(root, wanted);
    progress.end(`✔ dependencies  ${packages} packages  ${time}`);
    return { ...report, installed: { packages, ms: Date.now() - started } };
  } finally {
    progress.stop();
    if (!fs.existsSync(stampFile(root))) removeTree(root);
  }
}

/** What is half there takes the room that the next try needs, and its Node could be a torn file in front of a good one. */
function removeTree(root) {
  fs.rmSync(path.join(root, 'node_modules'), { recursive: true, force: true });
}

function interrupted(signal, progress) {
  progress.end(`– dependencies  interrupted (${signal}); the next run starts afresh`);
  process.exitCode = EXIT_INTERRUPTED;
}

/** `npm ci` exactly as locked: no scripts, and no part left out because of how the user's npm is configured. */
function runNpm(root, log, lock) {
  const cli = process.env.npm_execpath;
  const isNpm = cli !== undefined && path.basename(cli) === 'npm-cli.js';
  const [program, first] = isNpm ? [process.execPath, [cli]] : ['npm', []];
  const flags = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const output = fs.openSync(log, 'w', 0o600);
  return new Promise((resolve) => {
    const child = spawn(program, [...first, ...flags], { cwd: root, stdio: ['ignore', output, output] });
    if (child.pid !== undefined) lock.share(child.pid);
    let asked;
    const stop = (signal) => {
      asked = signal;
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), NPM_GRACE_MS).unref();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
    const end = (code) => {
      for (const signal of SIGNALS) process.off(signal, stop);
      fs.closeSync(output);
      resolve({ code, signal: asked });
    };
    child.on('error', (error) => {
      fs.writeSync(output, `${error.code}: cannot run ${program}: ${error.message}\n`);
      end(1);
    });
    child.on('exit', (code) => end(code ?? 1));
  });
}

function wantedTree(root) {
  const text = fs.readFileSync(path.join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(text).update(`${process.platform} ${process.arch}`).digest('hex');
  const packages = Object.entries(JSON.parse(text.toString()).packages)
    .filter(([at, entry]) => at !== '' && fits(entry.os, process.platform) && fits(entry.cpu, process.arch))
    .filter(([, entry]) => !entry.libc || entry.libc.includes('glibc'));
  return { digest, packages };
}

const fits = (allowed, mine) => allowed === undefined || allowed.includes(mine);

/** A stamp alone could lie: somebody may have removed a package or the Node binary by hand since. */
function isFresh(root, { digest, packages }) {
  try {
    if (JSON.parse(fs.readFileSync(stampFile(root), 'utf8')).digest !== digest) return false;
    // An optional package may be missing for good reasons; without it an old host could not run us.
    if (!ownNode.isNew(process.versions.node)) fs.accessSync(ownNode.find(root) ?? '', fs.constants.X_OK);
  } catch {
    return false;
  }
  return packages.every(([at, entry]) => entry.optional === true || isThere(root, at));
}

const isThere = (root, at) => fs.existsSync(path.join(root, at, 'package.json'));

const countInstalled = (root, { packages }) => packages.filter(([at]) => isThere(root, at)).length;

const stampFile = (root) => path.join(root, 'node_modules', '.slipway-install.json');

/** Problems that are certain before npm has touched anything, or undefined. */
function whyNot(root) {
  const newEnough = ownNode.isNew(process.versions.node) || ownNode.isPublishedHere();
  if (!newEnough) return ownNode.tooOld(process.versions.node);
  try {
    fs.mkdirSync(path.join(root, '.slipway'), { recursive: true });
    fs.accessSync(root, fs.constants.W_OK);
    fs.accessSync(path.join(root, '.slipway'), fs.constants.W_OK);
  } catch (error) {
    if (error.code === 'EACCES' || error.code === 'EROFS') {
      return `cannot install into ${root}: ${error.code} (no write permission). Give yourself the folder (chown) or clone elsewhere`;
    }
    return `cannot install into ${root}: ${error.message}. Remove what is in the way and run the same command again`;
  }
  const { bavail, bsize } = fs.statfsSync(root);
  const free = Math.floor((bavail * bsize) / 1e6);
  if (free >= NEEDED_MEGABYTES) return undefined;
  return `the disk of ${root} has ${free} MB free, the install needs ${NEEDED_MEGABYTES} MB. Free some space and run the same command again`;
}

/** npm tells scripts which Node it runs on itself: the host's, even where PATH already leads to ours. */
function hostNode() {
  const agent = /\bnode\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '');
  return agent === null ? process.versions.node : agent[1];
}

function showProgress(root, wanted, started) {
  const isTerminal = process.stderr.isTTY === true;
  const line = () => `◐ dependencies  ${countInstalled(root, wanted)} packages  ${seconds(Date.now() - started)}`;
  say('installing the dependencies with npm ci (about 15 s, once)');
  const draw = () => (isTerminal ? process.stderr.write(`\r\x1b[K  ${line()}`) : say(line()));
  const timer = setInterval(draw, isTerminal ? TICK_MS : PLAIN_EVERY_MS);
  return {
    stop: () => clearInterval(timer),
    end(text) {
      clearInterval(timer);
      process.stderr.write(isTerminal ? `\r\x1b[K  ${text}\n` : '');
      if (!isTerminal) say(text);
    },
  };
}

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

const say = (text) => process.stderr.write(`slipway: ${text}\n`);

module.exports = ensureInstalled;
