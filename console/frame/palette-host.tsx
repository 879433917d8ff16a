import { Suspense, useEffect } from 'react';
import { lazyPart } from '../parts/lazy-part.ts';
import type { PaletteProps } from './palette.tsx';

const Palette = lazyPart(() => import('./palette.tsx'));

/** Listens for Ctrl-K and Cmd-K; loads the palette on first use. */
export function PaletteHost({ isOpen, onOpenChange, onShortcuts }: PaletteProps) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      onOpenChange(true);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [onOpenChange]);
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <Palette isOpen={isOpen} onOpenChange={onOpenChange} onShortcuts={onShortcuts} />
    </Suspense>
  );
}
