import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileTemplate, type TemplateValues } from './template.ts';

const VALUES: TemplateValues = { name: 'acme', empty: '', no: 'false', images: { Manager: 'image:1' }, none: {} };

const render = (text: string): string => compileTemplate(text, 'deployment.yaml').render(VALUES);

describe('a template of a manifest', () => {
  const cases = [
    { name: 'is text', given: 'a: 1\n', want: 'a: 1\n' },
    { name: 'names a value', given: 'a: {{ .name }}!', want: 'a: acme!' },
    { name: 'needs no spaces', given: '{{.name}}{{.name}}', want: 'acmeacme' },
    { name: 'names a value below a value', given: '{{ .images.Manager }}', want: 'image:1' },
    { name: 'names a value over two lines', given: '{{\n  .name\n}}', want: 'acme' },
    { name: 'keeps what depends on a value that is there', given: '{{ if .name }}yes{{ end }}', want: 'yes' },
    { name: 'drops what depends on an empty value', given: '{{ if .empty }}yes{{ end }}', want: '' },
    { name: 'takes the text false for a value', given: '{{ if .no }}yes{{ end }}', want: 'yes' },
    {
      name: 'takes values for one if there are any',
      given: '{{ if .images }}a{{ end }}{{ if .none }}b{{ end }}',
      want: 'a',
    },
    { name: 'has another way', given: '{{ if .empty }}yes{{ else }}no{{ end }}', want: 'no' },
    {
      name: 'has conditions in conditions',
      given: '{{ if .name }}{{ if .empty }}a{{ else }}b{{ end }}c{{ end }}',
      want: 'bc',
    },
    { name: 'trims before', given: 'a\n  {{- if .name }}\n  b\n  {{- end }}\nc', want: 'a\n  b\nc' },
    { name: 'trims after', given: 'a {{ .name -}} \n\t b', want: 'a acmeb' },
    { name: 'trims on both sides', given: 'a \n{{- .name -}}\n b', want: 'aacmeb' },
  ];
  for (const { name, given, want } of cases) {
    it(`operator/R23: ${name}`, () => {
      assert.equal(render(given), want);
    });
  }

  it('operator/R23: has lines that only some clusters get, and leaves no blank line behind', () => {
    const text =
      'exec manager \\\n  {{- if .empty }}\n  --empty={{ .empty }} \\\n  {{- end }}\n  --name={{ .name }}\n';
    assert.equal(render(text), 'exec manager \\\n  --name=acme\n');
  });

  const refused = [
    {
      name: 'a function',
      given: '\n\n{{ quote .name }}',
      want: /^deployment\.yaml:3: \{\{ quote \.name \}\} is not supported/,
    },
    { name: 'a pipe', given: '{{ .name | quote }}', want: /^deployment\.yaml:1: .*not supported/ },
    { name: 'a loop', given: '{{ range .name }}{{ end }}', want: /not supported/ },
    { name: 'a variable', given: '{{ $a := .name }}', want: /not supported/ },
    { name: 'a comment', given: '{{/* why */}}', want: /not supported/ },
    { name: 'all values at once', given: '{{ . }}', want: /not supported/ },
    { name: 'a second condition', given: '{{ if .name }}{{ else if .no }}{{ end }}', want: /not supported/ },
    { name: 'a trim mark without a space', given: '{{-.name}}', want: /not supported/ },
    {
      name: 'an action that never closes',
      given: 'a\nb {{ .name',
      want: /^deployment\.yaml:2: an action has no closing braces/,
    },
    {
      name: 'a condition without end',
      given: 'a\n{{ if .name }}',
      want: /^deployment\.yaml:2: this if has no end/,
    },
    { name: 'an end without condition', given: '{{ end }}', want: /this end belongs to no if/ },
    { name: 'an else without condition', given: '{{ else }}', want: /this else belongs to no if/ },
    {
      name: 'a second else',
      given: '{{ if .name }}{{ else }}{{ else }}{{ end }}',
      want: /this else belongs to no if/,
    },
  ];
  for (const { name, given, want } of refused) {
    it(`operator/R23: refuses ${name} when it is read, with file and line`, () => {
      assert.throws(() => compileTemplate(given, 'deployment.yaml'), { reason: 'InvalidTemplate', message: want });
    });
  }

  it('operator/R23: refuses a value that is not there, with file, line and value', () => {
    for (const path of ['.region', '.images.Node', '.name.more', '.constructor']) {
      for (const action of [`{{ ${path} }}`, `{{ if ${path} }}{{ end }}`]) {
        assert.throws(() => render(`a\n${action}`), {
          reason: 'MissingTemplateValue',
          disposition: 'terminal',
          message: `deployment.yaml:2: there is no value ${path}`,
        });
      }
    }
  });

  it('operator/R23: does not ask for values of a way that is not taken', () => {
    assert.equal(render('{{ if .empty }}{{ .region }}{{ end }}'), '');
  });

  it('operator/R23: refuses to print what is not text', () => {
    assert.throws(() => render('{{ .images }}'), { message: 'deployment.yaml:1: .images is not a text' });
  });
});
