// One install at a time in a clone: `npm start` and `npm test` may be started together on a fresh one.
const fs = require('node:fs');

const POLL_MS = 250;

/**
 * Waits until nobody else holds `file`. A holder that died, even by kill -9, does not block; but an installer that it left
 * running does, so `share` adds that process to the holders.
 */
async function acquireLock(file, say) {
  for (let waited = 0; ; waited += POLL_MS) {
    if (tryLock(file))
      return { share: (pid) => write(file, [process.pid, pid], 'w'), release: () => release(file) };
    const holder = holderOf(file);
    if (holder === undefined) release(file);
    else if (waited === 0) say(`process ${holder} is installing here already; waiting for it`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const release = (file) => fs.rmSync(file, { force: true });

function tryLock(file) {
  try {
    write(file, [process.pid], 'wx');
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function write(file, pids, flag) {
  fs.writeFileSync(file, JSON.stringify(pids.map((pid) => ({ pid, started: startOf(pid) }))), { flag });
}

/** The first holder that is still running, or undefined. */
function holderOf(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).find(isRunning)?.pid;
  } catch {
    // Removed meanwhile, or written half: its writer is gone.
    return undefined;
  }
}

function isRunning({ pid, started }) {
  try {
    process.kill(pid, 0);
    return startOf(pid) === started;
  } catch (error) {
    return error.code === 'EPERM';
  }
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
