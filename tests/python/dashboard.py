"""Dask's dashboard while a study runs, for docs/images/dask.png (scripts/docs-picture-python).

dashboard.py PICTURE: judges a study on two workers, and takes a picture of the page of tasks meanwhile.
"""

import os
import sys
import tempfile
import threading

import laxity
from laxity import engines
from picture import picture


def main():
    from distributed import Client, LocalCluster

    engines.UNIT_S = 0.5
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        url = client.dashboard_link
        shooting = threading.Thread(target=picture, args=(url, sys.argv[1], (1200, 760), 8))
        shooting.start()
        with tempfile.TemporaryDirectory() as folder:
            laxity.study("studies/ackelman2018.toml", sets=100, on=client, out=os.path.join(folder, "study"))
        shooting.join()


if __name__ == "__main__":
    main()
