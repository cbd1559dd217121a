import { goQuote } from '../../object/validation/go-text.ts';
import type { TransformContext } from '../definition.ts';
import { type GitConfigSection, parseGitConfig } from './git-config.ts';
import { type Fields, type FieldValues, isNamed, readFields, shownSection } from './git-config-fields.ts';
import { type PrintedKey, printIni } from './ini-print.ts';
import { cloudConfigProblem, during } from './problem.ts';

export interface AwsOptions {
  /** Unless told otherwise, the gate `AWSServiceLBNetworkSecurityGroup` decides. */
  readonly forceManagedNlbSecurityGroups?: boolean;
}

/** In the order in which they are printed. */
const GLOBAL: Fields = {
  Zone: 'text',
  Region: 'text',
  VPC: 'text',
  SubnetID: 'text',
  RouteTableID: 'text',
  RoleARN: 'text',
  SourceARN: 'text',
  KubernetesClusterTag: 'text',
  KubernetesClusterID: 'text',
  DisableSecurityGroupIngress: 'switch',
  ElbSecurityGroup: 'text',
  NodeIPFamilies: 'texts',
  ClusterServiceLoadBalancerHealthProbeMode: 'text',
  ClusterServiceSharedLoadBalancerHealthProbePort: 'int32',
  ClusterServiceSharedLoadBalancerHealthProbePath: 'text',
  SupportedTopologyInstanceTypePattern: 'text',
  NLBSecurityGroupMode: 'text',
};

const SERVICE_OVERRIDE: Fields = {
  Service: 'text',
  Region: 'text',
  URL: 'text',
  SigningRegion: 'text',
  SigningMethod: 'text',
  SigningName: 'text',
};

/** R70: the configuration with our defaults, in one form. What the program does not know is left out, with a warning. */
export function awsCloudConfig(source: string, context: TransformContext, options: AwsOptions = {}): string {
  const { global, overrides, unknown } = during('failed to read the cloud.conf', () => readConfig(source));
  if (unknown.length > 0) {
    context.warn(`left out, since the cloud controller manager of AWS does not know it: ${unknown.join(', ')}`);
  }
  if (!global.get('ClusterServiceLoadBalancerHealthProbeMode')) {
    global.set('ClusterServiceLoadBalancerHealthProbeMode', 'Shared');
  }
  const { forceManagedNlbSecurityGroups = context.gates.isEnabled('AWSServiceLBNetworkSecurityGroup') } = options;
  if (forceManagedNlbSecurityGroups) global.set('NLBSecurityGroupMode', 'Managed');
  const named = [...overrides].map(([id, values]) => ({
    header: overrideHeader(id),
    lines: printedKeys(SERVICE_OVERRIDE, values),
  }));
  named.sort((a, b) => Buffer.compare(Buffer.from(a.header), Buffer.from(b.header)));
  return printIni([{ header: 'Global', lines: printedKeys(GLOBAL, global) }, ...named]);
}

interface AwsConfig {
  readonly global: FieldValues;
  readonly overrides: ReadonlyMap<string, FieldValues>;
  readonly unknown: readonly string[];
}

function readConfig(source: string): AwsConfig {
  const global: FieldValues = new Map<string, string | number | boolean | readonly string[]>([
    ['DisableSecurityGroupIngress', false],
    ['ClusterServiceSharedLoadBalancerHealthProbePort', 0],
  ]);
  const overrides = new Map<string, FieldValues>();
  const unknown: string[] = [];
  for (const section of parseGitConfig(source)) {
    if (isNamed(section.name, 'ServiceOverride')) {
      const values = overrides.get(section.subsection) ?? new Map();
      overrides.set(section.subsection, values);
      unknown.push(...readFields(section, SERVICE_OVERRIDE, values));
    } else if (isNamed(section.name, 'Global') && section.subsection === '') {
      unknown.push(...readFields(section, GLOBAL, global));
    } else unknown.push(`${shownSection(section)} (line ${section.line})`);
  }
  return { global, overrides, unknown };
}

function printedKeys(fields: Fields, values: FieldValues): readonly PrintedKey[] {
  return Object.keys(fields).flatMap((key) => {
    const value = values.get(key) ?? '';
    return printedTexts(value).map((text) => ({ key, value: printedValue(key, text) }));
  });
}

/** Empty texts are not printed, nor is a list that begins with one. */
function printedTexts(value: string | number | boolean | readonly string[]): readonly string[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return value[0] === '' ? [] : [...new Set(value)].filter((text) => text !== '');
  }
  return value === '' ? [] : [String(value)];
}

/** As upstream prints it, where the program reads that as what it is; in double quotes otherwise. */
function printedValue(key: string, value: string): string {
  const forms = [upstreamForm(value), `"${value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`];
  const form = forms.find((text) =>
    isReadAs(`[Global]\n${key} = ${text}\n`, ([section]) => section?.keys[0]?.value === value),
  );
  if (form === undefined) throw cloudConfigProblem(`the value of ${key} cannot be written to a cloud.conf`);
  return form;
}

function upstreamForm(value: string): string {
  if (/[\n`]/.test(value)) return `"""${value}"""`;
  if (/[#;]/.test(value)) return `\`${value}\``;
  return value.trim() === value ? value : `"${value}"`;
}

function overrideHeader(id: string): string {
  if (id === '') return 'ServiceOverride';
  const forms = [goQuote(id), `"${id.replaceAll(/["\\]/g, '\\$&')}"`].map((name) => `ServiceOverride ${name}`);
  const header = forms.find((form) => isReadAs(`[${form}]\n`, ([section]) => section?.subsection === id));
  if (header === undefined)
    throw cloudConfigProblem('the name of a service override cannot be written to a cloud.conf');
  return header;
}

function isReadAs(text: string, isSame: (sections: readonly GitConfigSection[]) => boolean): boolean {
  try {
    return isSame(parseGitConfig(text));
  } catch {
    return false;
  }
}
