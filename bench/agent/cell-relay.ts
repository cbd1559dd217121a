// Leads from a network of its own to servers of this machine: one hop, and outside of whoever measures.
//   cell-relay.ts FOLDER PLACE PORT…
// FOLDER is seen at PLACE inside. Tells its parent the process to enter, and ends with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, createServer, type Server } from 'node:net';

const LOOPBACK = '127.0.0.1';
const INSIDE = '--inside';
const ENTER = 'ip link set lo up && mkdir -p "$2" && mount --bind "$1" "$2" && shift 2 && exec "$@"';

const words = process.argv.slice(2);
process.once('disconnect', () => process.exit());
if (words[0] === INSIDE) await listenInside(words.slice(1).map(Number));
else relay(words);

/** Whoever accepts connections leads them on in his own network: the sockets are handed over. */
async function listenInside(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const server = createServer().listen(port, LOOPBACK);
    await new Promise<void>((done, failed) => {
      server.once('error', failed);
      server.once('listening', done);
    });
    process.send?.({ port }, server, {}, () => server.close());
  }
}

function relay([folder = '', place = '', ...ports]: readonly string[]): void {
  const inside = [process.execPath, process.argv[1] ?? '', INSIDE, ...ports];
  const namespaces = ['--map-root-user', '--net', '--mount'];
  const child = spawn('unshare', [...namespaces, 'sh', '-c', ENTER, 'sh', folder, place, ...inside], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.once('error', () => process.exit(1));
  child.once('exit', () => process.exit(1));
  let missing = ports.length;
  child.on('message', ({ port }: { readonly port: number }, server) => {
    lead(server as Server, port);
    missing--;
    if (missing === 0) tellReady(child);
  });
}

function lead(server: Server, port: number): void {
  server.on('connection', (inner) => {
    const outer = connect({ port, host: LOOPBACK, noDelay: true });
    inner.setNoDelay(true);
    inner.pipe(outer).pipe(inner);
    inner.once('error', () => outer.destroy());
    outer.once('error', () => inner.destroy());
    inner.once('close', () => outer.destroy());
    outer.once('close', () => inner.destroy());
  });
}

const tellReady = ({ pid }: ChildProcess): void => void process.send?.({ pid });
