import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { AZURE_INJECT_FLAGS, runAzureInject } from './run.ts';

interface Given {
  readonly config?: string;
  readonly credentials?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** Runs the program on files of its own. */
async function run(t: TestContext, { config, credentials = {}, flags = [] }: Given) {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-inject-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const source = join(folder, 'cloud.conf');
  const secret = join(folder, 'secret');
  const output = join(folder, 'merged.conf');
  await mkdir(secret);
  if (config !== undefined) await writeFile(source, config);
  for (const [name, text] of Object.entries(credentials)) await writeFile(join(secret, name), text);
  const paths = [`--cloud-config-file-path=${source}`, `--creds-path=${secret}`, '--output-file-path', output];
  let [stdout, stderr] = ['', ''];
  const code = await runAzureInject({
    argv: [...paths, ...flags],
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
  });
  return { code, stdout, stderr: stderr.replaceAll(folder, ''), output, folder };
}

const SECRET = { azure_client_id: 'id', azure_client_secret: 's<e>cret\n' };

describe('operator/R84: the file that is written', () => {
  it('has sorted keys, no new line at its end and everybody may read it', async (t) => {
    const { code, stderr, output, folder } = await run(t, {
      config: '{"z":1,"b":"é","a":1.50}',
      credentials: SECRET,
    });
    assert.deepEqual([code, stderr], [0, '']);
    const text = await readFile(output, 'utf8');
    assert.equal(text, '{"a":1.5,"aadClientId":"id","aadClientSecret":"s\\u003ce\\u003ecret\\n","b":"é","z":1}');
    assert.equal((await stat(output)).mode & 0o777, 0o644);
    assert.deepEqual((await readdir(folder)).toSorted(), ['cloud.conf', 'merged.conf', 'secret']);
  });

  it('takes the place of an older one', async (t) => {
    const { output } = await run(t, { config: '{"a":1}', credentials: SECRET });
    await writeFile(output, 'x'.repeat(1000), { mode: 0o600 });
    const again = [`--output-file-path=${output}`];
    await run(t, { config: '{}', credentials: { ...SECRET, azure_client_secret: 't' }, flags: again });
    assert.equal(await readFile(output, 'utf8'), '{"aadClientId":"id","aadClientSecret":"t"}');
  });

  it('has the token of a workload', async (t) => {
    const credentials = { azure_client_id: 'id', azure_federated_token_file: '/var/token', azure_tenant_id: 't' };
    const flags = ['--disable-identity-extension-auth', '--enable-azure-workload-identity=true', '-v=4'];
    const { code, output } = await run(t, { config: '{"useManagedIdentityExtension":true}', credentials, flags });
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(await readFile(output, 'utf8')), {
      aadClientId: 'id',
      aadFederatedTokenFile: '/var/token',
      tenantId: 't',
      useFederatedWorkloadIdentityExtension: true,
      useManagedIdentityExtension: false,
    });
  });
});

describe('operator/R82, R83: one message that names the file', () => {
  const cases: readonly { name: string; given: Given; message: RegExp }[] = [
    {
      name: 'no configuration, before anything else',
      given: {},
      message: /cannot read the cloud config \/cloud.conf: there is no such file/,
    },
    { name: 'no client', given: { config: '{}' }, message: /azure_client_id is missing in \/secret/ },
    {
      name: 'no secret',
      given: { config: '{}', credentials: { azure_client_id: 'x' } },
      message: /\/secret: azure_client_secret should be set up/,
    },
    {
      name: 'a token without a tenant',
      given: { config: '{}', credentials: { azure_client_id: 'x', azure_federated_token_file: 'y' } },
      message: /\/secret: azure_tenant_id should be set up/,
    },
    {
      name: 'no JSON',
      given: { config: '{"a"', credentials: SECRET },
      message: /cloud config \/cloud.conf is not JSON: unexpected end/,
    },
    {
      name: 'a list',
      given: { config: '[]', credentials: SECRET },
      message: /cloud config \/cloud.conf is not a JSON object/,
    },
    { name: 'nothing but null', given: { config: 'null', credentials: SECRET }, message: /is not a JSON object/ },
    {
      name: 'no folder for the result',
      given: { config: '{}', credentials: SECRET, flags: ['--output-file-path=/nowhere/x'] },
      message: /cannot write the result \/nowhere\/x: there is no such file or folder/,
    },
  ];
  for (const { name, given, message } of cases) {
    it(`for ${name}`, async (t) => {
      const { code, stderr, stdout } = await run(t, given);
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.equal(stderr.split('\n').length, 2);
      assert.equal(stdout, '');
    });
  }
});

describe('flags', () => {
  it('operator/R82: have the defaults of upstream', () => {
    assert.deepEqual(Object.fromEntries(AZURE_INJECT_FLAGS.map((flag) => [flag.name, flag.default])), {
      'cloud-config-file-path': '/tmp/cloud-config/cloud.conf',
      'output-file-path': '/tmp/merged-cloud-config/cloud.conf',
      'creds-path': '/etc/azure/credentials',
      'disable-identity-extension-auth': 'false',
      'enable-azure-workload-identity': 'false',
      v: '0',
    });
  });

  it('end the program with 2 when they are not known', async (t) => {
    const { code, stderr } = await run(t, { flags: ['--output-file-pat=x'] });
    assert.equal(code, 2);
    assert.match(stderr, /did you mean --output-file-path\?/);
  });

  it('are listed by --help', async (t) => {
    const { code, stdout } = await run(t, { flags: ['--help'] });
    assert.equal(code, 0);
    assert.match(stdout, /--creds-path <text>/);
  });
});
