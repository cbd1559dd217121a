import type { KubeObject } from '../../api/object.ts';
import { messageOf, SlipwayError, userError } from '../../base/errors.ts';
import { frozenCopy } from '../../sdk/provider/frozen-copy.ts';
import type { AssetSource, CloudProvider, CloudProviderDefinition, RenderContext } from '../definition.ts';
import { type Asset, loadAssets } from './assets.ts';
import { commonObjects } from './common-objects.ts';
import { objectOf } from './decode.ts';
import { definitionProblems } from './definition-problems.ts';
import { type ManifestScope, OPERANDS, STATIC_PODS } from './manifest-kinds.ts';
import { substituteOperand, substituteStaticPod } from './substitute.ts';
import { templateValues } from './values.ts';

/**
 * Checks a definition, reads its files, which is done this once, and freezes it. Throws for a definition that cannot work, with
 * all that is wrong with it; what depends on the cluster is noticed when resources are asked for.
 */
export function defineCloudProvider(given: CloudProviderDefinition): CloudProvider {
  const definition = frozenCopy(given);
  const { id, bootstrapAssets = { objects: [] } } = definition;
  const problems = definitionProblems(definition);
  if (problems.length > 0) throw invalid(id, problems.join('; '));
  const assets = load(id, definition.assets, OPERANDS);
  const staticPods = load(id, bootstrapAssets, STATIC_PODS, 'bootstrap/');
  return Object.freeze({
    definition,
    getResources: (context: RenderContext) => {
      const rendered = render(assets, definition, context);
      if (rendered.length === 0) return [];
      const operands = rendered.map((object) => substituteOperand(object, definition, context));
      return [...operands, ...commonObjects(definition, context)];
    },
    getBootstrapResources: (context: RenderContext) =>
      render(staticPods, definition, context).map((object) => substituteStaticPod(object, definition, context)),
  });
}

function render(
  assets: readonly Asset[],
  definition: CloudProviderDefinition,
  context: RenderContext,
): readonly KubeObject[] {
  // Nothing of a control plane that runs elsewhere can be scheduled here (R93).
  const isHosted = context.infra.status?.controlPlaneTopology === 'External';
  if (assets.length === 0 || isHosted) return [];
  const values = templateValues(definition, context);
  return assets.map((asset) => objectOf(asset.read(values)));
}

function load(id: string, source: AssetSource, scope: ManifestScope, folder = ''): readonly Asset[] {
  try {
    const assets = loadAssets(source, scope, `${id}: ${folder}`);
    // Objects depend on no value, so that what is wrong with them is known now.
    if ('objects' in source) for (const asset of assets) objectOf(asset.read({}));
    return assets;
  } catch (cause) {
    throw cause instanceof SlipwayError ? cause : invalid(id, messageOf(cause), cause);
  }
}

const invalid = (id: string, message: string, cause?: unknown): Error =>
  userError('InvalidDefinition', `cloud provider ${id}: ${message}`, { cause });
