import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Access, ApiClient, accessFrom } from '../support/api-client.ts';
import { type EmbeddedServer, startEmbedded } from '../support/embedded.ts';
import { attacks } from '../support/fuzz/attacks.ts';
import { prepareTargets, runCampaign } from '../support/fuzz/campaign.ts';

const COUNT = Number(process.env['SLIPWAY_FUZZ_REQUESTS'] ?? 2000);
const SEED = Number(process.env['SLIPWAY_FUZZ_SEED'] ?? 1);

describe('hostile requests', () => {
  let server: EmbeddedServer;
  let access: Access;
  before(async () => {
    server = await startEmbedded();
    access = accessFrom(await server.user('admin', ['system:masters']));
    using client = new ApiClient(access);
    await prepareTargets(client);
  });
  after(() => server[Symbol.asyncDispose]());

  it('reliability/P9: are all answered, with a Status if refused, and change nothing they must not', async (context) => {
    const report = await runCampaign(access, attacks(COUNT, SEED));
    context.diagnostic(
      `seed ${SEED}: ${report.sent} requests, codes ${JSON.stringify(report.codes)}, event loop p99 ${report.loopDelayP99Ms.toFixed(0)} ms`,
    );
    for (const line of report.slowest.slice(0, 3)) context.diagnostic(line);
    assert.deepEqual(report.problems, []);
    assert.equal(report.sent, COUNT);
    // The generators must reach behind the first check: some requests are valid.
    assert.ok((report.codes[200] ?? 0) + (report.codes[201] ?? 0) > COUNT / 20, JSON.stringify(report.codes));
  });
});
