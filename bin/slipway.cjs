#!/usr/bin/env node
// The installed command. Old syntax on purpose: it must parse on any Node, so that an old one gets a sentence and not a
// SyntaxError. In a clone the bootstrap takes over (it installs what is missing and runs the sources).
var fs = require('fs');
var path = require('path');
var ownNode = require('./own-node.cjs');

var root = path.join(__dirname, '..');
var bootstrap = path.join(root, 'scripts', 'bootstrap.cjs');
var args = process.argv.slice(2);

ownNode.stopWithNpx();
if (fs.existsSync(bootstrap)) {
  require(bootstrap).run(['src/cli/main.ts'].concat(args));
} else {
  launch(path.join(root, 'dist', 'cli', 'main.js'));
}

function launch(entry) {
  if (!fs.existsSync(entry)) {
    ownNode.refuse(
      'this package holds no built code (' +
        entry +
        ' is missing). Build before packing: npm run build && npm pack',
    );
    return;
  }
  if (ownNode.isNew(process.versions.node)) {
    require('./start.cjs')(entry, args).catch(function (error) {
      process.stderr.write((error.stack || error) + '\n');
      process.exitCode = 1;
    });
    return;
  }
  var node = ownNode.find(root);
  if (node === undefined) ownNode.refuse(ownNode.tooOld(process.versions.node));
  else ownNode.replaceProcess(node, [entry].concat(args));
}
