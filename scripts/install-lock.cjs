// One install at a time in a clone: `npm start` and `npm test` may be started together on a fresh one.
// A copy of the idea of src/app/file-lock.ts: nothing may be imported before the install.
const fs = require('node:fs');

const POLL_MS = 250;

/**
 * Waits until nobody else holds `file`. A holder that died, even by kill -9, does not block; but an installer that it left
 * running does, so `share` adds that process to the holders.
 */
async function acquireLock(file, say) {
  for (let waited = 0; ; waited += POLL_MS) {
    if (tryLock(file)) return { share: (pid) => replace(file, [process.pid, pid]), release: () => release(file) };
    const holder = liveHolder(file);
    if (holder === undefined) takeAway(file);
    else if (waited === 0) say(`process ${holder} is installing here already; waiting for it`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A link appears whole or not at all, so that nobody reads half a lock. */
function tryLock(file) {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, content([process.pid]));
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function replace(file, pids) {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, content(pids));
  fs.renameSync(draft, file);
}

/** Two may find the same dead holder: what was moved aside goes back if it is a live one by now. */
function takeAway(file) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    fs.renameSync(file, aside);
    if (liveHolder(aside) !== undefined) fs.linkSync(aside, file);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  fs.rmSync(aside, { force: true });
}

/** Only what is still ours. */
function release(file) {
  if (read(file)[0]?.pid === process.pid) fs.rmSync(file, { force: true });
}

const content = (pids) => JSON.stringify(pids.map((pid) => ({ pid, started: startOf(pid) })));

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    // Removed meanwhile, or not ours: nobody who could be waited for.
    return [];
  }
}

/** The first holder that is still running, or undefined. */
function liveHolder(file) {
  return read(file).find(isRunning)?.pid;
}

function isRunning({ pid, started }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return startOf(pid) === started;
}

/** Start time in kernel ticks: a process id alone may have been given to somebody else. Empty where there is no /proc. */
function startOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20];
  } catch {
    return '';
  }
}

module.exports = { acquireLock };
