// Runs an ES module in this process as if it had been named on the command line. In a file of its own because an old
// Node cannot even parse it; only a new one gets here.
var url = require('url');

module.exports = function start(entry, args) {
  process.argv = [process.execPath, entry].concat(args);
  return import(url.pathToFileURL(entry).href);
};
