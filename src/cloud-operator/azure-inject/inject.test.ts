import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AzureCredentials, checkCredentials, injectCredentials } from './inject.ts';

const credentials = (given: Partial<AzureCredentials> = {}): AzureCredentials => ({
  clientId: 'id',
  clientSecret: undefined,
  federatedTokenFile: undefined,
  tenantId: undefined,
  ...given,
});

describe('credentials that fit together', () => {
  const cases: readonly { name: string; given: Partial<AzureCredentials>; problem?: RegExp }[] = [
    { name: 'a secret', given: { clientSecret: 's' } },
    { name: 'a secret and a tenant', given: { clientSecret: 's', tenantId: 't' } },
    { name: 'a token and a tenant', given: { federatedTokenFile: '/t', tenantId: 't' } },
    { name: 'nothing', given: {}, problem: /azure_client_secret should be set up/ },
    { name: 'only a tenant', given: { tenantId: 't' }, problem: /azure_client_secret should be set up/ },
    { name: 'a token alone', given: { federatedTokenFile: '/t' }, problem: /azure_tenant_id should be set up/ },
    {
      name: 'a token and a secret',
      given: { federatedTokenFile: '/t', tenantId: 't', clientSecret: 's' },
      problem: /azure_client_secret and azure_federated_token_file are both there/,
    },
  ];
  for (const { name, given, problem } of cases) {
    it(`operator/R83: ${name}: ${problem === undefined ? 'taken' : 'refused'}`, () => {
      const check = () => checkCredentials(credentials(given));
      if (problem === undefined) check();
      else assert.throws(check, problem);
    });
  }
});

describe('what a configuration becomes', () => {
  const injected = (config: object, given: Partial<AzureCredentials>, disableIdentityExtension = false) =>
    injectCredentials({ ...config }, credentials(given), { disableIdentityExtension });

  it('operator/R84: has a secret', () => {
    assert.deepEqual(injected({ a: 1, aadClientSecret: 'old' }, { clientSecret: 's\n', tenantId: 't' }).config, {
      a: 1,
      aadClientId: 'id',
      aadClientSecret: 's\n',
    });
  });

  it('operator/R84: has a token and its tenant', () => {
    assert.deepEqual(injected({ tenantId: 'old' }, { federatedTokenFile: '/t', tenantId: 't' }).config, {
      tenantId: 't',
      aadClientId: 'id',
      aadFederatedTokenFile: '/t',
      useFederatedWorkloadIdentityExtension: true,
    });
  });

  it('operator/R84: turns managed identities off only where something is said about them', () => {
    assert.equal(
      injected({ useManagedIdentityExtension: true }, { clientSecret: 's' }, true).config[
        'useManagedIdentityExtension'
      ],
      false,
    );
    assert.ok(!('useManagedIdentityExtension' in injected({}, { clientSecret: 's' }, true).config));
    const { config, warnings } = injected({ useManagedIdentityExtension: true }, { clientSecret: 's' });
    assert.equal(config['useManagedIdentityExtension'], true);
    assert.match(warnings.join(), /useManagedIdentityExtension is true/);
  });

  it('operator/R84: warns when credentials are empty', () => {
    const { config, warnings } = injected({}, { federatedTokenFile: '/t', tenantId: '' });
    assert.deepEqual(config, { aadClientId: 'id', aadClientSecret: '' });
    assert.match(warnings.join(), /cannot log in/);
  });
});
