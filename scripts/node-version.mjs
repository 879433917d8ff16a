const nodeMin = [20, 19];

/** @param {string} version */
export function checkNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return;
  throw new Error(`Sandbank needs Node ${nodeMin.join('.')} or newer; this is Node ${version}.`);
}
