import { COMMON_SETTINGS, type SettingTable } from '../settings.ts';
import { defineVerb } from '../verb.ts';

const settings = {
  output: {
    type: 'string',
    allowed: ['text', 'json', 'sarif'],
    default: 'text',
    env: 'SLIPWAY_OUTPUT',
    description: 'text for people, json for programs, sarif (2.1.0) for code hosts and editors',
  },
  plain: COMMON_SETTINGS.plain,
  'max-warnings': {
    type: 'integer',
    min: 0,
    max: 1_000_000,
    default: undefined,
    description: 'more warnings than so many end with exit code 1; any number is fine without it',
  },
  'cloud-config': {
    type: 'boolean',
    default: false,
    description: 'the manifests are of a provider with a cloud configuration: they must use it',
  },
  namespace: {
    type: 'string',
    default: undefined,
    description:
      'where the manifests run: openshift-cloud-controller-manager, or with an operator of its own openshift-PROVIDER-cloud-controller-manager',
  },
} as const satisfies SettingTable;

/** Checks manifests, or a definition without running anything of it but `declare()`. */
export const lintVerb = defineVerb({
  name: 'lint',
  group: 'start here',
  summary: 'check the definition of a provider, or manifests: what is wrong, why, and how to fix it',
  examples: ['slipway lint examples/acme-cloud', 'slipway lint examples/acme-cloud --output sarif'],
  positionals: [
    {
      name: 'PATH',
      description:
        'a definition such as provider.ts, or the folder that it is in; or manifests of a cloud controller manager: a YAML file, or a folder with such files or with assets/ and bootstrap/',
      isRequired: true,
    },
  ],
  settings,
  load: async () => {
    const [{ lintPath }, { lintText, plainLintText }, { lintSarif }, { countOf }, { releaseVersion }] =
      await Promise.all([
        import('../lint/lint-path.ts'),
        import('../lint/lint-text.ts'),
        import('../lint/lint-sarif.ts'),
        import('../lint/finding.ts'),
        import('../release.ts'),
      ]);
    return async ({ output, folder, clock }, settings, positionals) => {
      const { output: form, plain: isPlain, 'max-warnings': most = Infinity } = settings;
      const { 'cloud-config': hasCloudConfig, namespace: managedNamespace } = settings;
      const startMs = clock.monotonicMs();
      const options = { hasCloudConfig, ...(managedNamespace !== undefined && { managedNamespace }) };
      const report = await lintPath(folder, positionals[0] ?? '.', options);
      const errors = countOf(report.findings, 'error');
      const warnings = countOf(report.findings, 'warning');
      const isFailed = errors > 0 || warnings > most;
      const text = isPlain ? plainLintText : lintText;
      const end = { durationMs: clock.monotonicMs() - startMs, isFailed };
      const { findings, files } = report;
      const document =
        form === 'sarif' ? lintSarif(report, releaseVersion()) : { errors, warnings, files, findings };
      output.result(text(report, end), document);
      return isFailed ? 1 : 0;
    };
  },
});
