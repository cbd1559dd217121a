import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import { ConfigMap } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createManager } from './create-manager.ts';

const EMPTY = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [] });

describe('Manager.start', () => {
  it('runtime/M4: a second call is refused and leaves the connections of the first alone', async () => {
    const server = createServer((_, answer) => answer.setHeader('content-type', 'application/json').end(EMPTY));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const kube = { url: `http://127.0.0.1:${port}` };
    const manager = createManager({ kube, name: 'twice', log: SILENT_LOG, selfCheck: false });
    const stop = new AbortController();
    const first = manager.start(stop.signal);
    await manager.whenReady();
    await assert.rejects(manager.start(), { reason: 'ManagerStarted' });
    assert.deepEqual((await manager.unfencedClient.live.list(ConfigMap)).items, []);
    stop.abort();
    await first;
    server.closeAllConnections();
    server.close();
  });
});
