import type { ManifestRule } from '../src/cloud-operator/index.ts';

/** docs/reference/manifest-rules.md: what `slipway lint` asks of manifests of cloud controller managers, on one page. */
export function manifestRulesPage(rules: readonly ManifestRule[]): string {
  return [
    '# Rules for manifests',
    [
      '`slipway lint PATH` checks manifests of a cloud controller manager of OpenShift as the cloud operator would apply them: a YAML',
      'file, a folder with such files, or a folder with `assets/` (what the operator applies) and `bootstrap/` (static pods), both',
      'with one object per file. Elsewhere a file may hold several documents, and a Pod is a static pod. Files may be templates:',
      '`{{ .name }}`, `if`, `else` and `end`, with the values that every template has (`infrastructureName`, `cloudproviderName`,',
      '`managedNamespace`, `featureGates`, `tlsMinVersion`, `tlsCipherSuites`) and images of any name (`.images.…`).',
    ].join('\n'),
    [
      'What only the definition of a cloud says is taken from elsewhere: `--cloud-config` tells that there is a cloud configuration;',
      '`--namespace` names the managed namespace where it is not `openshift-cloud-controller-manager`;',
      'a CredentialsRequest beside the manifests declares its Secret; the containers `cloud-controller-manager` and',
      '`cloud-node-manager` get their images from the payload; the label of the platform may have any value. Rules for definitions',
      'and for the installation of the operator need more than manifests, so that the command does not check them,',
      'and refuses what `slipway render cloud-operator` and `slipway render deploy` wrote.',
    ].join('\n'),
    'Errors end the command with exit code 1. `slipway explain CCM-W07` prints what this page has.',
    ...rules.flatMap(({ id, severity, severityNote, title, appliesTo, why, fix }) => [
      `## ${id}: ${escaped(title)}`,
      [
        `- **Severity:** ${severity}${severityNote === undefined ? '' : ` (${severityNote})`}`,
        `- **Applies to:** ${appliesTo}`,
        `- **Why:** ${escaped(why)}`,
        `- **Fix:** ${escaped(fix)}`,
      ].join('\n'),
    ]),
  ].join('\n\n');
}

/** What markdown would take for a tag or for emphasis. */
const escaped = (text: string): string => text.replaceAll(/[<>*_]/g, (sign) => `\\${sign}`);
