import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageOf } from '../../base/errors.ts';
import { isProviderError } from '../../sdk/provider/provider-error.ts';
import { labConfig } from './lab-config.ts';

const SECRET = 'canary-of-a-secret';

const read = (config: string | undefined, secrets: Readonly<Record<string, string>> = {}) =>
  labConfig({ config, secret: (name) => secrets[name] });

const complete = `
endpoint: http://127.16.0.2:8080/
clientId: lab-provider
clientSecret: ${SECRET}
clusterId: c1-x7k2p
`;

describe('the cloud configuration of the lab provider', () => {
  it('comes from the file', () => {
    assert.deepEqual(read(`${complete}region: north`), {
      endpoint: 'http://127.16.0.2:8080',
      clientId: 'lab-provider',
      clientSecret: SECRET,
      clusterId: 'c1-x7k2p',
      region: 'north',
    });
  });

  it('takes the credential from variables, unless the file has it', () => {
    const variables = { LAB_CLIENT_ID: 'someone', LAB_CLIENT_SECRET: SECRET };
    const { clientId, clientSecret } = read('endpoint: http://cloud', variables);
    assert.deepEqual([clientId, clientSecret], ['someone', SECRET]);
    assert.equal(read(complete, variables).clientId, 'lab-provider');
  });

  it('may leave the cluster out, so that the program can refuse', () => {
    assert.equal(read('{endpoint: http://cloud, clientId: a, clientSecret: b}').clusterId, undefined);
  });

  const refused: readonly { readonly name: string; readonly config: string | undefined; readonly says: RegExp }[] =
    [
      {
        name: 'no file',
        config: undefined,
        says: /: endpoint: is missing: write it into the file of --cloud-config$/,
      },
      { name: 'an empty file', config: '', says: /: endpoint: is missing/ },
      {
        name: 'a list',
        config: '[]',
        says: /must be a map with endpoint, clientId, clientSecret, clusterId, region$/,
      },
      {
        name: 'no credential',
        config: 'endpoint: http://cloud',
        says: /: clientId: is missing: write it there or set LAB_CLIENT_ID$/,
      },
      {
        name: 'another kind of URL',
        config: complete.replace('http:', 'ftp:'),
        says: /: endpoint: must be a URL with/,
      },
      {
        name: 'a credential in the URL',
        config: complete.replace('127', `me:${SECRET}@127`),
        says: /: endpoint: must be a URL with http or https, without credentials/,
      },
      { name: 'a number', config: complete.replace('c1-x7k2p', '7'), says: /: clusterId: must be a text$/ },
      { name: 'a strange cluster', config: complete.replace('c1-', 'c1/'), says: /: clusterId: must be 1 to 63/ },
      {
        name: 'a typo',
        config: `${complete}regoin: a`,
        says: /: regoin: is unknown: did you mean region\?$/,
      },
      {
        name: 'a secret that is an alias',
        config: complete.replace(SECRET, `*${SECRET}`),
        says: /: is no YAML that can be read$/,
      },
      {
        name: 'a line that is none',
        config: `${complete}"${SECRET}`,
        says: /: is no YAML that can be read: look at line \d+, column \d+$/,
      },
      {
        name: 'a secret that is a list',
        config: complete.replace(SECRET, `[${SECRET}]`),
        says: /: clientSecret: must be/,
      },
    ];
  for (const { name, config, says } of refused) {
    it(`refuses ${name} with the field, and without the secret`, () => {
      assert.throws(
        () => read(config),
        (thrown) => {
          assert.ok(isProviderError(thrown) && thrown.kind === 'invalid');
          assert.match(messageOf(thrown), says);
          return !messageOf(thrown).includes(SECRET) && thrown.cause === undefined;
        },
      );
    });
  }
});
