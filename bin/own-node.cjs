// Finds the Node that Slipway brings along as an optional dependency, and hands the process over to it.
// Shared by the installed command and the bootstrap; old syntax, because both run on whatever Node the host has.
var childProcess = require('child_process');
var fs = require('fs');
var path = require('path');

var NEEDED_MAJOR = 24;
var EXIT_ENVIRONMENT = 3;
var PARENT_CHECK_MS = 250;
/**
 * How our Node is started. Half of V8's limit for young objects: an API server with 10,000 objects takes a quarter less
 * memory, for 3 % of its speed (`npm run bench`).
 */
var NODE_ARGS = ['--max-semi-space-size=8'];

function major(version) {
  return Number(version.split('.')[0]);
}

function isNew(version) {
  return major(version) >= NEEDED_MAJOR;
}

/** The path of our own Node below `root` (or hoisted beside it), or undefined where none is published or installed. */
function find(root) {
  var name = 'node-' + process.platform + '-' + process.arch;
  var folder = root;
  for (;;) {
    var place = path.join(folder, 'node_modules', name);
    if (isNew(versionAt(place))) return path.join(place, 'bin', 'node');
    var parent = path.dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/**
 * Takes our own Node away again where it does not run: built for glibc, it would stand in front of a good Node on a system
 * with another C library in every npm script.
 */
function dropUnusable(root) {
  var node = find(root);
  if (node === undefined || childProcess.spawnSync(node, ['--version']).status === 0) return;
  fs.rmSync(path.dirname(path.dirname(node)), { recursive: true, force: true });
  fs.rmSync(path.join(root, 'node_modules', '.bin', 'node'), { force: true });
}

/** Some other package may need an older one under the same name, so the version is read, not assumed. */
function versionAt(place) {
  try {
    if (!fs.existsSync(path.join(place, 'bin', 'node'))) return '0';
    return JSON.parse(fs.readFileSync(path.join(place, 'package.json'), 'utf8')).version || '0';
  } catch (error) {
    if (error instanceof SyntaxError || error.code === 'ENOENT') return '0';
    throw error;
  }
}

/** Whether a Node of ours exists for this kind of machine at all. */
function isPublishedHere() {
  return process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64');
}

function tooOld(version) {
  var way = isPublishedHere()
    ? 'Install Slipway again without --omit=optional (it then brings its own), or install Node ' + NEEDED_MAJOR
    : 'It brings its own Node on Linux (x64, arm64) only; here, install Node ' + NEEDED_MAJOR;
  return 'Slipway needs Node ' + NEEDED_MAJOR + ' or later; this is ' + version + ' (PATH). ' + way;
}

/** One message, then the exit code for "the environment is wrong". */
function refuse(message) {
  process.stderr.write('slipway: ' + message + '\n');
  process.exitCode = EXIT_ENVIRONMENT;
}

/**
 * Runs `node args` in our place: same streams, same exit code. Signals sent to us alone are passed on; Ctrl-C at a
 * terminal reaches the child by itself (same process group), and a second SIGINT would mean "kill everything now".
 */
function replaceProcess(node, args, env) {
  var child;
  // Before the child exists: it may speak, and be answered with a signal, before spawn has returned. A signal that found
  // nobody would end us and leave the child behind. Handlers run when this turn is over, so there is a child by then.
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      if (signal !== 'SIGINT' || !hasTerminal()) child.kill(signal);
    });
  });
  child = childProcess.spawn(node, NODE_ARGS.concat(args), { stdio: 'inherit', env: env || process.env });
  child.on('error', function (error) {
    refuse('cannot run ' + node + ': ' + error.message);
  });
  child.on('exit', function (code, signal) {
    process.exit(signal === null ? code : 128 + require('os').constants.signals[signal]);
  });
}

/**
 * npx starts us below a shell that a signal ends without being passed on: whoever stops npx would leave us behind. Only
 * for npx; a script that starts us in the background and ends means us to go on.
 */
function stopWithNpx() {
  if (process.env.npm_command !== 'exec') return;
  var shell = process.ppid;
  var timer = setInterval(function () {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** Any of the three streams may be redirected without leaving the terminal's process group. */
function hasTerminal() {
  return Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY);
}

module.exports = {
  NODE_ARGS: NODE_ARGS,
  dropUnusable: dropUnusable,
  find: find,
  isNew: isNew,
  isPublishedHere: isPublishedHere,
  major: major,
  refuse: refuse,
  replaceProcess: replaceProcess,
  stopWithNpx: stopWithNpx,
  tooOld: tooOld,
};
