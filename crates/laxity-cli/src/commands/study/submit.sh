#!/bin/sh
# A study in shards as an array job of Slurm, by laxity @VERSION@.
#
#   sh submit         submits the shards, and behind them a job that merges them
#
# The job that merges submits further shards while the axis is refined, and the same ones twice more where some have failed: what a
# shard has is kept. What the jobs say is beside this file. Add the lines that your cluster wants (partition, account) behind the
# others: laxity keeps this file as it is.
#SBATCH --job-name=@NAME@
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=@LIMIT@
#SBATCH --requeue
#SBATCH --open-mode=append

laxity=@PROGRAM@
study=@FILE@
out=@OUT@
# How many; it changes as the axis is refined.
shards=$(cat "$out/slurm/shards") || exit

# With how many tries that have failed before.
submit() {
    job=$(sbatch --parsable --array="1-$shards" --output="$out/slurm/shard-%a.log" "$out/slurm/submit" shard) || exit
    job=${job%%;*}
    merge=$(sbatch --parsable --dependency="afterany:$job" --output="$out/slurm/merge.log" "$out/slurm/submit" merge "$1") || {
        scancel "$job"
        exit 1
    }
    echo "submitted: $shards shards (job $job), and what merges them (job ${merge%%;*}); $out/slurm/merge.log says how it ends"
}

case ${1-} in
'')
    submit 0
    ;;
shard)
    exec "$laxity" study "$study"@CHANGES@ -o "$out" --shard "$SLURM_ARRAY_TASK_ID/$shards" --threads 1 --quiet
    ;;
merge)
    failed=${2-0}
    "$laxity" study merge "$study"@CHANGES@ -o "$out"
    code=$?
    case $code in
    0) echo "complete: $out/@PAGE@" ;;
    1)
        # What was merged is kept; the next array may be of another size.
        rm -rf "$out/shards"
        "$laxity" study "$study"@CHANGES@ -o "$out" --slurm --minutes @MINUTES@ --quiet || exit
        exec sh "$out/slurm/submit"
        ;;
    *)
        failed=$((failed + 1))
        if [ "$failed" -lt 3 ]; then
            submit "$failed"
        else
            echo "given up after three tries: $out/slurm/shard-I.log says why shard I failed; by hand it is" >&2
            echo "  $laxity study $study@CHANGES@ -o $out --shard I/$shards" >&2
        fi
        exit "$code"
        ;;
    esac
    ;;
*)
    echo "usage: sh submit" >&2
    exit 2
    ;;
esac
