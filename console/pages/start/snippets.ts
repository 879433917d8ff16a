export type Language = 'curl' | 'typescript' | 'python';

export const languages: readonly { readonly value: Language; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
];

type Value = string | number | boolean;
export type Body = Readonly<Record<string, Value>>;

/** One POST request in a language. It reads the key from the environment, so that no snippet contains one. */
export function snippetOf(language: Language, publicUrl: string, path: string, body: Body): string {
  const url = `${publicUrl}/_api/${path}`;
  switch (language) {
    case 'curl':
      return curl(url, body);
    case 'typescript':
      return typescript(url, body);
    case 'python':
      return python(url, body);
  }
}

function curl(url: string, body: Body): string {
  return [
    `curl -X POST '${url}' \\`,
    '  -H "Authorization: Bearer $SANDBANK_API_KEY" \\',
    '  -H "Idempotency-Key: $(date +%s)-$RANDOM" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

function typescript(url: string, body: Body): string {
  return [
    `const response = await fetch('${url}', {`,
    "  method: 'POST',",
    '  headers: {',
    "    Authorization: 'Bearer ' + process.env.SANDBANK_API_KEY,",
    "    'Idempotency-Key': crypto.randomUUID(),",
    "    'Content-Type': 'application/json',",
    '  },',
    `  body: JSON.stringify({ ${members(body, (name, value) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`)} }),`,
    '});',
    'const result = await response.json();',
    'console.log(response.status, result);',
  ].join('\n');
}

function python(url: string, body: Body): string {
  return [
    'import json, os, urllib.request, uuid',
    '',
    'request = urllib.request.Request(',
    `    "${url}",`,
    '    method="POST",',
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'SANDBANK_API_KEY\']}",',
    '        "Idempotency-Key": str(uuid.uuid4()),',
    '        "Content-Type": "application/json",',
    '    },',
    `    data=json.dumps({${members(body, (name, value) => `"${name}": ${pythonLiteral(value)}`)}}).encode(),`,
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, json.load(response))',
  ].join('\n');
}

function members(body: Body, write: (name: string, value: Value) => string): string {
  return Object.entries(body)
    .map(([name, value]) => write(name, value))
    .join(', ');
}

function pythonLiteral(value: Value): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}
