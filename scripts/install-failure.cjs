// Turns what npm printed into one sentence: what went wrong and what to do about it.
const CAUSES = [
  [
    /ENOSPC/,
    (root) => `the disk of ${root} (or of npm's cache) is full. Free some space and run the same command again`,
  ],
  [
    /EACCES|EPERM|EROFS/,
    (root) =>
      `npm may not write below ${root} (or its cache). Check who owns the folder, then run the same command again`,
  ],
  [
    /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|network|UNABLE_TO_GET_ISSUER|SELF_SIGNED/,
    () =>
      'the npm registry cannot be reached. Check the network, proxy and `npm config get registry`, then run the same command again',
  ],
  [
    /EINTEGRITY/,
    () =>
      'a package from the registry is not the one that was locked. Clear the cache with `npm cache verify` and run again; if it stays, report it',
  ],
  [
    /E401|E403|E404|ETARGET/,
    () =>
      'the npm registry does not serve a package the lock file names. Check `npm config get registry` (a mirror may lack it)',
  ],
  [
    /ENOTEMPTY|EBUSY/,
    (root) =>
      `something else changes ${root}/node_modules at the same time. End it and run the same command again`,
  ],
  [
    /package-lock\.json|Unexpected token|JSON/,
    () =>
      'package-lock.json cannot be read (an unfinished merge?). Restore it with `git checkout package-lock.json`',
  ],
  [
    /ENOTCACHED/,
    () =>
      'npm is told to work offline, and its cache lacks a package. Install once with the network, or fill the cache',
  ],
  [
    /ENOENT: cannot run npm/,
    () => 'npm is not on the PATH. Install Node with npm, then run the same command again',
  ],
];

function cause(output, root) {
  return sentence(reasonIn(output, root) ?? 'npm gave no reason known to us; its last lines follow');
}

/** The same for an error of our own: what it says is the best we know. */
function causeOfError(error, root) {
  return sentence(reasonIn(error.message, root) ?? error.message);
}

const reasonIn = (text, root) => CAUSES.find(([pattern]) => pattern.test(text))?.[1](root);

const sentence = (reason) =>
  `the dependencies could not be installed: ${reason}. Nothing half-done is left: the next run starts afresh`;

function lastLines(output, count) {
  const lines = output.trimEnd().split('\n');
  return lines
    .slice(-count)
    .map((line) => `  npm| ${line}`)
    .join('\n');
}

module.exports = { cause, causeOfError, lastLines };
