import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { API_KEY, answer, IGNITION } from '../../../test/support/agent-bootstrap-world.ts';
import { authorityPem } from '../../../test/support/config-sync-world.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { ASSISTED_DEFAULTS, type AssistedSettings } from './assisted-settings.ts';
import { type DownloadFailure, IgnitionDownload } from './ignition-download.ts';
import { TrustedBundle } from './trusted-bundle.ts';

const URL_TEXT = `https://assisted.example/files?api_key=${API_KEY}`;
const NO_BUNDLE: AssistedSettings = { ...ASSISTED_DEFAULTS, caBundleName: '', caBundleNamespace: '' };
const IN_DEFAULT: AssistedSettings = { ...ASSISTED_DEFAULTS, caBundleNamespace: 'default', caBundleName: 'ca' };

function downloadOf(http: HttpCall, settings: AssistedSettings, env: TestEnv) {
  const download = new IgnitionDownload({ http, clock: env.clock, bundle: new TrustedBundle(settings) });
  return (url = URL_TEXT) =>
    env.throughTime(download.fetch(new URL(url), env.client.live, new AbortController().signal));
}

describe('the download of an ignition', () => {
  for (const { name, http, failure, message } of [
    {
      name: 'a server that cannot be reached',
      http: () => Promise.reject(new Error(`connect ECONNREFUSED, asked for ${URL_TEXT}`)),
      failure: 'transport',
      message: /^no answer from https:\/\/assisted\.example\/files: connect ECONNREFUSED/,
    },
    {
      name: 'an answer that is not 200',
      http: () => Promise.resolve(answer(404, 'secret body')),
      failure: 'status',
      message: /^ignition request to https:\/\/assisted\.example\/files returned status 404$/,
    },
    {
      name: 'an answer that is no JSON',
      http: () => Promise.resolve(answer(200, '<html>secret</html>')),
      failure: 'content',
      message: /^the answer is no JSON object/,
    },
    {
      name: 'an answer without end',
      http: () => Promise.resolve(answer(200, 'x'.repeat(5 * 1024 * 1024))),
      failure: 'content',
      message: /more than 4194304 bytes/,
    },
    {
      name: 'a server that says nothing',
      http: () => new Promise<never>(() => {}),
      failure: 'timeout',
      message: /within 30 s$/,
    },
  ] satisfies readonly { name: string; http: HttpCall; failure: DownloadFailure; message: RegExp }[])
    it(`agent/B13, agent/X16: tells of ${name}, and of no key`, async () => {
      await using env = await TestEnv.start();
      await assert.rejects(downloadOf(http, NO_BUNDLE, env)(), (error: Error & { failure?: string }) => {
        assert.equal(error.failure, failure);
        assert.match(error.message, message);
        assert.ok(!error.message.includes(API_KEY) && !error.message.includes('secret'));
        return true;
      });
    });

  it('agent/E7: needs the authorities that the settings name, each part of it, but none over plain HTTP', async () => {
    await using env = await TestEnv.start();
    const asked: (string | undefined)[] = [];
    const http: HttpCall = ({ caPem }) => {
      asked.push(caPem);
      return Promise.resolve(answer(200, IGNITION));
    };
    const fetch = downloadOf(http, IN_DEFAULT, env);
    const rejects = (message: RegExp) => assert.rejects(fetch(), { failure: 'bundle', message });
    await rejects(/^failed to create HTTP client: Secret default\/ca with the CA bundle does not exist/);
    await env.client.create(Secret, { metadata: { namespace: 'default', name: 'ca' }, data: { other: '' } });
    await rejects(/key ca\.crt not found in Secret default\/ca/);
    const put = (text: string) =>
      env.client.patch(
        Secret,
        { namespace: 'default', name: 'ca' },
        { type: 'merge', body: { data: { 'ca.crt': Buffer.from(text).toString('base64') } } },
      );
    await put('no pem');
    await rejects(/key ca\.crt of Secret default\/ca: it holds no PEM block/);
    const pem = await authorityPem('ca');
    await put(pem);
    assert.equal(await fetch(), IGNITION);
    await fetch('http://assisted.example/files');
    assert.deepEqual(asked, [pem, undefined]);
    await assert.rejects(downloadOf(http, { ...IN_DEFAULT, caBundleName: '' }, env)(), { failure: 'bundle' });
  });

  it('agent/X16: reads the authorities again after 401, and asks again only when they are others', async () => {
    await using env = await TestEnv.start();
    const settings = { ...IN_DEFAULT, caBundleResource: 'configmap' };
    const [old, present] = [await authorityPem('old'), await authorityPem('present')];
    const key = { namespace: 'default', name: 'ca' };
    await env.client.create(ConfigMap, { metadata: key, data: { 'ca.crt': old } });
    let asked = 0;
    const fetch = downloadOf(
      ({ caPem }) => {
        asked++;
        return Promise.resolve(caPem === present ? answer(200, IGNITION) : answer(401));
      },
      settings,
      env,
    );
    await assert.rejects(fetch(), { failure: 'status' });
    assert.equal(asked, 1);
    await env.client.patch(ConfigMap, key, { type: 'merge', body: { data: { 'ca.crt': present } } });
    assert.equal(await fetch(), IGNITION);
    assert.equal(asked, 3);
  });

  it('ends with the reason of its signal', async () => {
    const clock = new VirtualClock();
    const bundle = new TrustedBundle(NO_BUNDLE);
    const download = new IgnitionDownload({ http: () => new Promise<never>(() => {}), clock, bundle });
    await using env = await TestEnv.start();
    const stop = new AbortController();
    const fetching = download.fetch(new URL(URL_TEXT), env.client.live, stop.signal);
    stop.abort(new Error('stopping'));
    await assert.rejects(fetching, { message: 'stopping' });
  });
});
