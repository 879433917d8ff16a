/** Injection payloads for a database, a shell, a browser, a spreadsheet, a terminal and a log. */
export const payloads = [
  // SQL
  "' or '1'='1",
  "'; drop table payments; --",
  "\\'; select pg_sleep(1200) --",
  "') union select hash, org_id from api_keys --",
  '$1',
  // Templates and shells
  `\${7*7}`,
  `\${jndi:ldap://127.0.0.1/a}`,
  '{{7*7}}<%= 7*7 %>#{7*7}',
  '$(sleep 20)`id`;ls|cat /etc/passwd&',
  '%s%n%x%00',
  // Pages
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "javascript:alert('x')",
  '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
  // Paths
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  'file:///etc/passwd',
  // Lines
  'a\r\nSet-Cookie: forged=1\r\n\r\n<html>',
  'a\n{"level":60,"msg":"forged"}',
  '\u001b[2J\u001b]0;forged\u0007',
  // Spreadsheets
  '=1+1',
  "=cmd|' /C calc'!A0",
  '+1',
  '-1',
  '@SUM(A1:A9)',
  '\t=1+1',
  // Invisible and confusable characters
  '\u202egnp.exe',
  '\u200b\ufeff\u2060',
  '\uffff\ufdd0',
  'e\u0301\u0301\u0301',
  // Names of built-in object properties
  '__proto__',
  'constructor',
  'toString',
  '*)(uid=*))(|(uid=*',
] as const;

/** Texts that cannot be stored, as JSON. The server rejects them instead of repairing them. */
export const unstorable = [
  '"a\\u0000b"',
  '"\\u0000"',
  '"\\ud800"',
  '"a\\udc00b"',
  '"\\udc00\\ud800"',
] as const;

/** A subset of the payloads that depends on the number: each field gets some, and each payload reaches many fields. */
export function shareOf(at: number, shares: number): readonly string[] {
  return payloads.filter((_text, index) => index % shares === at % shares);
}
