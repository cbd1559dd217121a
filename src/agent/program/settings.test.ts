import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASSISTED_DEFAULTS } from '../infra-env/assisted-settings.ts';
import { readSettings, speaksTls } from './settings.ts';

const read = (...argv: readonly string[]) => readSettings(argv, {});

describe('settings of the Agent providers', () => {
  it('agent/P1: are those of upstream where nobody says anything', () => {
    const { settings, problems, isHelp } = read();
    assert.deepEqual(problems, []);
    assert.equal(isHelp, false);
    assert.deepEqual(settings, {
      metrics: ':8080',
      isMetricsSecure: false,
      health: ':8081',
      isElected: false,
      electionNamespace: '',
      namespace: '',
      watchFilter: '',
      webhook: { port: 9443, host: '', certDir: '/tmp/k8s-webhook-server/serving-certs' },
      kubeconfig: '',
      environmentFile: '',
      assisted: ASSISTED_DEFAULTS,
      logLevel: 'info',
      logFormat: 'text',
    });
  });

  it('agent/P1: are read from the command line of the manifests of upstream, in both spellings', () => {
    const { settings, problems } = read(
      '--leader-elect',
      '--metrics-bind-address=:8443',
      '--metrics-secure',
      '-health-probe-bind-address=127.0.0.1:9440',
      '--enable-http2=false',
      '-v=6',
      '--vmodule=a=1',
      '--log_flush_frequency=5s',
      '--log-json-split-stream=true',
      '--kubeconfig',
      '/etc/kubeconfig',
    );
    assert.deepEqual(problems, []);
    assert.equal(settings.isElected, true);
    assert.equal(settings.metrics, ':8443');
    assert.equal(settings.isMetricsSecure, true);
    assert.equal(settings.health, '127.0.0.1:9440');
    assert.equal(settings.logLevel, 'debug');
    assert.equal(settings.kubeconfig, '/etc/kubeconfig');
  });

  it('agent/P1: has places for the webhooks, and what of the cluster it looks at', () => {
    const { settings, problems } = read(
      '--webhook-port=10250',
      '--webhook-bind-address=127.0.0.1',
      '--webhook-cert-dir=/certs',
      '--namespace=metal',
      '--watch-filter=ours',
      '--leader-elect-namespace=elsewhere',
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(settings.webhook, { port: 10_250, host: '127.0.0.1', certDir: '/certs' });
    assert.equal(settings.namespace, 'metal');
    assert.equal(settings.watchFilter, 'ours');
    assert.equal(settings.electionNamespace, 'elsewhere');
  });

  it('agent/P1: says everything that is wrong at once', () => {
    const { problems } = readSettings(
      [
        '--leader-elekt',
        '--metrics-bind-address=8080',
        '--health-probe-bind-address=:99999',
        '--webhook-port=70000',
        '--namespace=No_Name',
        '--webhook-cert-dir=',
      ],
      { USE_INTERNAL_IMAGE_URL: 'perhaps', ASSISTED_CA_BUNDLE_NAME: '' },
    );
    const said = [
      /--leader-elekt.*--leader-elect/,
      /--webhook-port/,
      /--metrics-bind-address/,
      /--health-probe-bind-address/,
      /--namespace: "No_Name"/,
      /--webhook-cert-dir/,
      /USE_INTERNAL_IMAGE_URL must be true or false, not "perhaps"/,
      /ASSISTED_CA_BUNDLE_NAME is "" and ASSISTED_CA_BUNDLE_NAMESPACE is "assisted-installer"; set both/,
    ];
    for (const pattern of said)
      assert.ok(
        problems.some((one) => pattern.test(one)),
        `${pattern}\n${problems.join('\n')}`,
      );
    assert.equal(problems.length, said.length, problems.join('\n'));
  });

  it('agent/E6, agent/E7: takes the variables of upstream, and nothing else from the environment', () => {
    const { settings, problems } = readSettings([], {
      USE_INTERNAL_IMAGE_URL: 'true',
      ASSISTED_SERVICE_NAME: 'service',
      ASSISTED_INSTALLER_NAMESPACE: 'assisted',
      ASSISTED_CA_BUNDLE_NAMESPACE: '',
      ASSISTED_CA_BUNDLE_NAME: '',
      ASSISTED_CA_BUNDLE_RESOURCE: 'configmap',
      ASSISTED_CA_BUNDLE_KEY: 'ca-bundle.crt',
      LEADER_ELECT: 'true',
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(settings.assisted, {
      ...ASSISTED_DEFAULTS,
      useInternalImageUrl: true,
      assistedServiceName: 'service',
      assistedInstallerNamespace: 'assisted',
      caBundleNamespace: '',
      caBundleName: '',
      caBundleResource: 'configmap',
      caBundleKey: 'ca-bundle.crt',
    });
    assert.equal(settings.isElected, false);
  });

  it('agent/E7: a bundle is a Secret or a ConfigMap', () => {
    const { problems } = readSettings([], { ASSISTED_CA_BUNDLE_RESOURCE: 'Secret' });
    assert.deepEqual(problems, ['ASSISTED_CA_BUNDLE_RESOURCE must be secret or configmap, not "Secret"']);
  });

  it('agent/P4: TLS matters to webhooks and to secure metrics', () => {
    const cases: readonly [readonly string[], boolean][] = [
      [[], true],
      [['--webhook-port=0'], false],
      [['--webhook-port=0', '--metrics-secure'], true],
      [['--webhook-port=0', '--metrics-secure', '--metrics-bind-address=0'], false],
    ];
    for (const [argv, want] of cases) assert.equal(speaksTls(read(...argv).settings), want, argv.join(' '));
  });
});
