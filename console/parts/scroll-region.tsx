import { type ReactNode, useEffect, useRef, useState } from 'react';
import { classes } from './text.ts';

export interface ScrollRegionProps {
  readonly label: string;
  readonly className?: string;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}

/** For content that may be wider than the page. It is a tab stop only while it scrolls. */
export function ScrollRegion({ label, className, isBusy = false, children }: ScrollRegionProps) {
  const box = useRef<HTMLElement>(null);
  const isScrolled = useOverflow(box);
  return (
    <section
      ref={box}
      aria-label={label}
      {...(isScrolled ? { tabIndex: 0 } : {})}
      className={classes('relative overflow-x-auto focus-visible:outline-offset-[-2px]', className)}
      aria-busy={isBusy || undefined}
    >
      {children}
    </section>
  );
}

function useOverflow(box: React.RefObject<HTMLElement | null>): boolean {
  const [isOverflowing, setOverflowing] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setOverflowing(element.scrollWidth > element.clientWidth + 1));
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  });
  return isOverflowing;
}
