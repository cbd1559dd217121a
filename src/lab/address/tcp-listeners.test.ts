import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listenerNames, tcpListeners } from './tcp-listeners.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100107F:BFFF 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 81234 1 0000000000000000 100 0 0 10 0
   1: 0100117F:BFFF 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 81235 1 0000000000000000 20 4 30 10 -1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 0000000000000000 100 0 0 10 0
garbage
`;

const listener = (inode: string, octet = 16) => ({ host: `127.${octet}.0.1`, port: 49_151, uid: 1000, inode });

describe('TCP listeners', () => {
  it('lab/X3: reads who listens from the table of the kernel', () => {
    assert.deepEqual(tcpListeners(TABLE, 'LE'), [
      { host: '127.16.0.1', port: 49_151, uid: 1000, inode: '81234' },
      { host: '0.0.0.0', port: 22, uid: 0, inode: '333' },
    ]);
  });

  it('reads addresses in the other byte order', () => {
    assert.equal(tcpListeners(TABLE.replace('0100107F', '7F100001'), 'BE')[0]?.host, '127.16.0.1');
  });

  it('finds none in an empty table', () => {
    assert.deepEqual(tcpListeners('', 'LE'), []);
  });

  it('names processes where it can, and users otherwise', () => {
    const pids = new Map([['1', 42]]);
    assert.deepEqual(listenerNames([listener('1'), listener('2', 17)], pids), [
      'process 42 of user 1000 (127.16.0.1:49151)',
      'a process of user 1000 (127.17.0.1:49151)',
    ]);
  });

  it('names a process once, and few of many', () => {
    const many = Array.from({ length: 9 }, (_, index) => listener(String(index), 16 + index));
    const pids = new Map(many.map(({ inode }, index) => [inode, Math.max(1, index - 1)]));
    assert.deepEqual(listenerNames(many, pids).slice(0, 2), [
      'process 1 of user 1000 (127.16.0.1:49151 and 2 more)',
      'process 2 of user 1000 (127.19.0.1:49151)',
    ]);
    assert.equal(listenerNames(many, pids).at(-1), '2 others');
  });
});
