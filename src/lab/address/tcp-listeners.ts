/** Who listens, as far as the kernel's table says. */
export interface TcpListener {
  readonly host: string;
  readonly port: number;
  readonly uid: number;
  /** Found again among the open files of the process. */
  readonly inode: string;
}

const LISTEN_STATE = '0A';

/** The listening sockets in the text of `/proc/net/tcp`; addresses there are numbers in the byte order of the machine. */
export function tcpListeners(text: string, endianness: 'LE' | 'BE'): readonly TcpListener[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , uid = '', , inode = ''] = line.trim().split(/\s+/);
      const [address = '', port = ''] = local.split(':');
      if (state !== LISTEN_STATE || !/^[0-9A-F]{8}$/i.test(address)) return [];
      const bytes = [...Buffer.from(address, 'hex')];
      const host = (endianness === 'LE' ? bytes.toReversed() : bytes).join('.');
      return [{ host, port: Number.parseInt(port, 16), uid: Number(uid), inode }];
    });
}

const NAMED = 5;

/** In words, by process where it is known; a few only. */
export function listenerNames(
  listeners: readonly TcpListener[],
  pidOf: ReadonlyMap<string, number>,
): readonly string[] {
  const places = new Map<string, string[]>();
  for (const { host, port, uid, inode } of listeners) {
    const pid = pidOf.get(inode);
    const who = pid === undefined ? `a process of user ${uid}` : `process ${pid} of user ${uid}`;
    places.set(who, [...(places.get(who) ?? []), `${host}:${port}`]);
  }
  const names = [...places].map(([who, [first, ...others]]) =>
    others.length === 0 ? `${who} (${first})` : `${who} (${first} and ${others.length} more)`,
  );
  return names.length <= NAMED ? names : [...names.slice(0, NAMED), `${names.length - NAMED} others`];
}
