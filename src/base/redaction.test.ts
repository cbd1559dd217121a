import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError } from './errors.ts';
import { REDACTED, redacted, redactedText } from './redaction.ts';

const CANARY = 'cnry-7f3a9b2c5d';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbnJ5In0';

describe('redactedText', () => {
  const texts = [
    `Authorization: Bearer ${CANARY}`,
    `Authorization: Token ${CANARY}`,
    `sent Bearer ${CANARY} twice`,
    `Basic ${CANARY}`,
    `Cookie: a=1; session=${CANARY}`,
    `X-Auth-Token: ${CANARY}`,
    `https://admin:${CANARY}@cloud.example/v1`,
    `https://${CANARY}@cloud.example/v1`,
    `https://u:p@${CANARY}@cloud.example/v1`,
    `GET /v1/x?access_token=${CANARY}&y=1 failed`,
    `https://h/#access_token=${CANARY}`,
    `http://127.0.0.1:7440/#t=${CANARY}`,
    `https://h/blob?sig=${CANARY}`,
    `-----BEGIN EC PRIVATE KEY-----\n${CANARY}\n-----END EC PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${CANARY} and then it was cut`,
    `${JWT}.${CANARY}`,
    `401: {"auth":{"passwordCredentials":{"password":"${CANARY}"}}}`,
    `401: {\\"password\\":\\"${CANARY}\\"}`,
    `{"auths":{"quay.io":{"auth":"${CANARY}"}}}`,
    `client-key-data: ${CANARY}`,
    `users:\n- user:\n    token: ${CANARY}\n`,
    `OS_PASSWORD=${CANARY} cmd`,
    `run --token=${CANARY}`,
    `run --bmc-password ${CANARY} --host h`,
    `password: "with spaces ${CANARY}"`,
    `secret='${CANARY}'`,
    `aws_secret_access_key = ${CANARY}`,
    `credentials: ${CANARY}`,
    `--token: ${CANARY} is no token`,
    `--token: "${CANARY}" is no token`,
    `--credentials-file=${CANARY}`,
    `--credentials-file: "${CANARY}"`,
    `stringData:\n  credentials.json: ${CANARY}\n  other: x`,
    `stringData:\n  token.txt: "${CANARY}"`,
    `/run/secrets/token: ${CANARY} of somebody`,
    `db.password.prod: ${CANARY} of somebody`,
    `/etc/app/config.yaml: password: ${CANARY}`,
    `/etc/credentials.yaml: the password: ${CANARY}`,
    `/etc/credentials.yaml: token=${CANARY}`,
  ];
  for (const text of texts) {
    it(`style/S35: cuts the secret out of ${JSON.stringify(text.slice(0, 40))}`, () => {
      const clean = redactedText(text);
      assert.ok(!clean.includes(CANARY), clean);
      assert.ok(clean.includes(REDACTED), clean);
      assert.equal(redactedText(clean), clean, 'a second time changes nothing');
    });
  }

  const harmless = [
    'Secret openshift-config/pull has no key "user" (keys found: a, b)',
    'https://example.com/@scope/package?page=2',
    'node w-0 at 10.0.0.4:6443 is ready',
    'export KUBECONFIG=$PWD/.slipway/hub.kubeconfig',
    'npm start -- --from cloud',
    'error reading --credentials-file: no such file',
    '--credentials-file needs a value',
    'bootstrap-input/credentials.yaml: is a Secret',
    'credentials.yaml: Secret a has no data',
    '/etc/passwd: it is not executable',
    'cannot read /run/secrets/token: permission denied',
  ];
  for (const text of harmless) {
    it(`keeps ${JSON.stringify(text.slice(0, 40))}`, () => assert.equal(redactedText(text), text));
  }

  it('style/S35: takes one word behind the name of a file for its content, not for a sentence', () => {
    assert.equal(redactedText('credentials.json: hunter\nother: x'), `credentials.json: ${REDACTED}\nother: x`);
    assert.equal(redactedText('/run/token: hunter'), `/run/token: ${REDACTED}`);
  });

  it('reliability/P9: is bounded for a text of any length and shape', () => {
    for (const part of ['x', 'token', '?token', 'a://', '"', '\\', '-----BEGIN ', 'Bearer ', 'password="']) {
      const text = redactedText(part.repeat(200_000));
      assert.ok(text.length < 40_000, `${part}: ${text.length} characters left`);
    }
  });
});

describe('redacted', () => {
  const keys = [
    'password',
    'bmcPassword',
    'passwords',
    'adminPasswordValue',
    'token',
    'clientSecret',
    'authorization',
  ];
  const more = [
    'cookie',
    'pullSecret',
    'api-key',
    'api_key',
    'privateKey',
    'private_key',
    'access_key',
    'ssh_key',
  ];
  const rest = [
    'client-key-data',
    'X-Auth-Key',
    'pwd',
    'jwt',
    'sessionId',
    '.dockerconfigjson',
    'kubeconfig',
    'data',
  ];
  for (const key of [
    ...keys,
    ...more,
    ...rest,
    'stringData',
    'ignition',
    'auth',
    'cloudCredentials',
    'passphrase',
  ]) {
    it(`style/S35: blanks the value of ${key}, however deep`, () => {
      assert.deepEqual(redacted({ a: [{ b: { [key]: CANARY } }] }), { a: [{ b: { [key]: REDACTED } }] });
    });
  }

  const shapes: readonly { name: string; value: unknown }[] = [
    { name: 'an own toJSON', value: { toJSON: () => ({ token: CANARY }) } },
    { name: 'raw headers', value: ['Accept', '*/*', 'X-Auth-Token', CANARY] },
    { name: 'environment of a container', value: [{ name: 'CLOUD_PASSWORD', value: CANARY }] },
    { name: 'arguments of a program', value: ['--password', CANARY] },
    { name: 'a Map', value: new Map([['token', CANARY]]) },
    { name: 'headers of fetch', value: new Headers({ authorization: `Bearer ${CANARY}` }) },
    { name: 'a Set', value: new Set([`Bearer ${CANARY}`]) },
    { name: 'a URL object', value: new URL(`https://u:${CANARY}@h/`) },
    { name: 'a secret as a key', value: { [`Bearer ${CANARY}`]: 1 } },
    { name: 'an error', value: new Error(`Bearer ${CANARY}`, { cause: new Error(`https://u:${CANARY}@h/`) }) },
    { name: 'own fields of an error', value: Object.assign(new Error('x'), { token: CANARY }) },
  ];
  for (const { name, value } of shapes) {
    it(`style/S35: finds the secret in ${name}`, () => {
      assert.ok(!JSON.stringify(redacted({ value })).includes(CANARY));
    });
  }

  it('keeps what is harmless', () => {
    const fields = {
      node: 'w-0',
      count: 3,
      isReady: true,
      at: new Date(0),
      none: null,
      key: 'zone',
      hasToken: false,
      tokenReviews: 3,
      secretName: 'creds',
      kubeconfigPath: 'hub.kubeconfig',
      Secret: { namespace: 'a', name: 'b' },
      labels: { app: 'ccm' },
    };
    assert.deepEqual(redacted(fields), fields);
  });

  it('writes a foreseen failure with its reason and without a stack', () => {
    const { err } = redacted({ err: retryError('Busy', 'not now', { cause: new Error('full') }) });
    assert.deepEqual(err, { type: 'SlipwayError', message: 'not now', reason: 'Busy', causes: ['full'] });
  });

  it('writes an error as its type, message, stack and the messages of its causes', () => {
    class QuotaError extends Error {
      override readonly name = 'QuotaError';
    }
    const { err } = redacted({ err: new QuotaError('outer', { cause: new Error('inner') }) });
    const { stack, ...rest } = err as Record<string, unknown>;
    assert.deepEqual(rest, { type: 'QuotaError', message: 'outer', causes: ['inner'] });
    assert.match(String(stack), /redaction\.test\.ts/);
  });

  it('survives cycles, depth, bytes and big integers', () => {
    const cycle: Record<string, unknown> = { size: 5n, raw: new Uint8Array(3) };
    cycle['self'] = cycle;
    const text = JSON.stringify(redacted(cycle));
    assert.match(text, /"size":"5","raw":"\[3 bytes\]"/);
    assert.match(text, /\[deeper\]/);
  });

  it('reliability/P9: writes at most 2,000 values of an object, however it is spread', () => {
    const wide = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => ({ a: 1, b: 2 })));
    const ones = JSON.stringify(redacted({ wide })).match(/[12]/g) ?? [];
    assert.ok(ones.length > 100 && ones.length <= 2000, `${ones.length}`);
  });
});
