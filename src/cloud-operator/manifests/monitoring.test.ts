import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { objectNamed, replaceInstallation } from '../../../test/support/operator-installation.ts';
import type { Role, RoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { OperatorMetrics } from '../operator/operator-metrics.ts';
import { installationFiles } from './files.ts';
import { alertRules, scrapedService } from './monitoring.ts';
import { metricsService } from './operator-deployment.ts';

const NAMESPACE = 'openshift-cloud-controller-manager-operator';

interface Endpoint {
  readonly port: string;
  readonly scheme: string;
  readonly bearerTokenFile: string;
  readonly tlsConfig: { readonly caFile: string; readonly serverName: string };
}
interface Monitor extends KubeObject {
  readonly spec: {
    readonly endpoints: readonly Endpoint[];
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  };
}
interface Rules extends KubeObject {
  readonly spec: {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly alert: string;
        readonly expr: string;
        readonly for: string;
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
      }[];
    }[];
  };
}

const alerts = () =>
  (alertRules(replaceInstallation()) as KubeObject as Rules).spec.groups.flatMap(({ rules }) => rules);

describe('monitoring of the operator', () => {
  it('operator/R94: is in files of their own, for whoever has its kinds', () => {
    const marked = installationFiles(replaceInstallation()).filter(({ needsMonitoring }) => needsMonitoring);
    const kinds = marked.map(({ objects }) => objects.map(({ kind }) => kind));
    assert.deepEqual(kinds, [['Role', 'RoleBinding', 'ServiceMonitor'], ['PrometheusRule']]);
    const others = installationFiles(replaceInstallation()).filter(
      ({ needsMonitoring }) => needsMonitoring !== true,
    );
    for (const { apiVersion } of others.flatMap(({ objects }) => objects))
      assert.doesNotMatch(apiVersion, /^monitoring/);
  });

  it('operator/R94: scrapes the Service of the metrics over TLS, with the authority of Services', () => {
    const objects = scrapedService(replaceInstallation());
    const { spec } = objectNamed<Monitor>(
      objects,
      `ServiceMonitor/cloud-controller-manager-operator in ${NAMESPACE}`,
    );
    const service = metricsService(replaceInstallation());
    assert.deepEqual(spec.selector.matchLabels, service.metadata.labels);
    const [endpoint] = spec.endpoints;
    assert.equal(endpoint?.port, service.spec?.ports?.[0]?.name);
    assert.equal(endpoint?.scheme, 'https');
    assert.match(endpoint.tlsConfig.caFile, /service-ca\.crt$/);
    assert.equal(endpoint.tlsConfig.serverName, `cloud-controller-manager-operator.${NAMESPACE}.svc`);
  });

  it('operator/R94: lets the monitoring of the cluster find it', () => {
    const objects = scrapedService(replaceInstallation());
    const role = objectNamed<Role>(objects, `Role/prometheus-k8s in ${NAMESPACE}`);
    assert.deepEqual(role.rules?.[0]?.resources, ['services', 'endpoints', 'pods']);
    const { subjects } = objectNamed<RoleBinding>(objects, `RoleBinding/prometheus-k8s in ${NAMESPACE}`);
    assert.deepEqual(subjects, [
      { kind: 'ServiceAccount', name: 'prometheus-k8s', namespace: 'openshift-monitoring' },
    ]);
  });

  it('operator/R94: alerts by metrics and labels that there are', async () => {
    const metrics = new PrometheusMetrics();
    new OperatorMetrics(metrics, new VirtualClock()).observed([
      { kind: 'Deployment', name: 'a', isConverged: true },
    ]);
    const text = await metrics.text();
    for (const { alert, expr } of alerts()) {
      const used = [...expr.matchAll(/slipway_\w+/g)].map(([name]) => name);
      for (const name of used) assert.ok(text.includes(`\n${name}{`), `${alert}: ${name}`);
      assert.ok(expr.includes(`namespace="${NAMESPACE}"`), alert);
    }
    assert.match(text, /slipway_cloud_operator_condition\{type="Degraded"\}/);
  });

  it('operator/R94: each alert waits, and says what it is about and where to look', () => {
    assert.deepEqual(
      alerts().map(({ alert }) => alert),
      ['CloudOperatorDegraded', 'CloudControllerManagerNotRolledOut', 'CloudOperatorSilent'],
    );
    for (const one of alerts()) {
      assert.match(one.for, /^\d+m$/);
      assert.deepEqual(Object.keys(one.annotations), ['summary', 'description']);
      assert.deepEqual(one.labels, { severity: 'warning', namespace: NAMESPACE });
    }
  });
});
