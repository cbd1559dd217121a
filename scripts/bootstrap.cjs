// What `npm start`, `npm test` and every other script call first: make sure the dependencies are there, then run a
// TypeScript file of ours on Node 24. Nothing but built-in modules: on a fresh clone there is nothing else.
// Old syntax here, so that a very old Node gets a sentence; install.cjs may assume Node 20.
var path = require('path');
var ownNode = require('../bin/own-node.cjs');

var OLDEST_MAJOR = 20;
/** Examples import `slipway/kube` as their users do; in a clone that leads to the sources, which need no build. */
var SOURCES = '--conditions=slipway-source';
var BROKEN_PACKAGE = ['ERR_MODULE_NOT_FOUND', 'ERR_INVALID_PACKAGE_CONFIG', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];
var root = path.join(__dirname, '..');

function run(argv) {
  if (ownNode.major(process.versions.node) < OLDEST_MAJOR) {
    ownNode.refuse(
      'Node ' +
        OLDEST_MAJOR +
        ' or later is needed to install Slipway, which then runs on its own Node 24; this is ' +
        process.versions.node +
        ' (PATH). Install Node 24 from nodejs.org or your distribution',
    );
    return;
  }
  var handedOver = reportOfParent();
  if (handedOver !== undefined) {
    start(argv, handedOver);
    return;
  }
  require('./install.cjs')(root)
    .then(function (report) {
      if (report !== undefined) start(argv, report);
    })
    .catch(crash);
}

/** Set when this is the second half: the host's Node did the install and handed over to ours. */
function reportOfParent() {
  try {
    var report = JSON.parse(process.env.SLIPWAY_BOOTSTRAP);
    return report.pid === process.ppid && report.root === root ? report : undefined;
  } catch (error) {
    // Nothing there, or not ours: text that is no JSON, or JSON that is no object.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function start(argv, report) {
  var entry = path.join(root, argv[0]);
  if (!require('fs').existsSync(entry)) {
    ownNode.refuse('there is no file ' + argv[0] + ' in ' + root);
    return;
  }
  var args = argv.slice(1);
  process.env.SLIPWAY_BOOTSTRAP = JSON.stringify(report);
  var isComplete = argv[0].indexOf('examples') !== 0 || process.execArgv.indexOf(SOURCES) >= 0;
  if (ownNode.isNew(process.versions.node) && isComplete) {
    // Sources start faster from V8's compile cache; it lies beside the packages it was made for.
    require('module').enableCompileCache(path.join(root, 'node_modules', '.cache', 'node'));
    require('../bin/start.cjs')(entry, args).catch(crash);
    return;
  }
  // A second hand-over would go on for ever: whatever was found is not the Node it claims to be.
  var node = report.pid === process.pid ? newNode() : undefined;
  if (node === undefined) ownNode.refuse(ownNode.tooOld(process.versions.node));
  else ownNode.replaceProcess(node, [SOURCES, __filename, argv[0]].concat(args));
}

function newNode() {
  return ownNode.isNew(process.versions.node) ? process.execPath : ownNode.find(root);
}

/** A package broken in a way the stamp cannot see, or a bug of ours. */
function crash(error) {
  var isBroken = error instanceof SyntaxError || BROKEN_PACKAGE.indexOf(error.code) >= 0;
  if (isBroken) {
    ownNode.refuse(
      error.message + '. If node_modules was changed by hand, remove it and run the same command again',
    );
    return;
  }
  process.stderr.write((error.stack || error) + '\n');
  process.exitCode = 1;
}

module.exports = { run: run };
if (require.main === module) run(process.argv.slice(2));
