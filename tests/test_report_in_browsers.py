"""Pages of results as a browser shows them."""

import shutil
import subprocess

import pytest

from maximand.report import write_report
from report_pages import NASTY, Page, result, table, write

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium or google-chrome is installed")


def show(path, folder, *options):
    """Open a page in a browser without a network; return the elements after loading and what it logged."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
        "--v=0", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}", *options,
        "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=55, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@browser
def test_a_browser_shows_the_page_without_complaint(tmp_path):
    write(tmp_path, "results/a", result())
    write(tmp_path, "results/b", result(title=NASTY, remarks=[NASTY]))
    dom, console = show(write_report(tmp_path / "results"), tmp_path)
    page = Page(dom)
    assert console == []
    assert len(page.all("table")) == 5 and len(page.all("figure")) == 2 and not page.all("script")
    addresses = [attrs[name] for _, attrs in page.elements for name in ("src", "href", "action") if name in attrs]
    assert addresses and all(address.startswith("#") for address in addresses)


@browser
def test_the_browser_would_complain_of_a_script(tmp_path):
    write(tmp_path, "results/a", result())
    path = write_report(tmp_path / "results")
    path.write_text(path.read_text().replace("<main>", "<main><script>document.title = 'run'</script>"))
    dom, console = show(path, tmp_path)
    assert console and "<title>run" not in dom


@browser
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_in_light_and_dark(tmp_path, dark):
    image = pytest.importorskip("matplotlib.image")
    write(tmp_path, "results/a", result())
    picture = tmp_path / "page.png"
    options = ["--blink-settings=preferredColorScheme=0"] if dark else []
    show(write_report(tmp_path / "results"), tmp_path, "--window-size=1000,1500", f"--screenshot={picture}", *options)
    shades = image.imread(picture)[..., :3].mean(axis=2)
    assert shades.shape == (1500, 1000)
    assert (shades.mean() < 0.3) if dark else (shades.mean() > 0.8)
    assert shades.std() > 0.05  # something is written on it
    assert (shades[0, 0] < 0.2) if dark else (shades[0, 0] > 0.9)


@browser
def test_only_tables_are_wider_than_a_phone(tmp_path):
    wide = table(columns=[f"column {c}" for c in range(12)], rows=[{"name": "row", "cells": [{"ours": 12345.6}] * 12}])
    write(tmp_path, "results/a", result(tables=[wide], remarks=["long" * 100], data={"name" * 50: "0" * 64}))
    text = write_report(tmp_path / "results").read_text().replace("&", "&amp;").replace('"', "&quot;")
    measure = (
        "onload = () => { const root = document.querySelector('iframe').contentDocument.documentElement;"
        " const table = root.querySelector('.result');"
        " document.title = `${root.scrollWidth} ${table.scrollWidth} ${table.parentElement.clientWidth}` }"
    )
    frame = tmp_path / "phone.html"
    frame.write_text(
        f'<iframe width="390" height="800" style="border: 0" srcdoc="{text}"></iframe><script>{measure}</script>'
    )
    dom, _ = show(frame, tmp_path)
    page_width, table_width, container_width = map(int, Page(dom).inside("title").split())
    assert page_width == 390 and container_width < 390 < table_width
