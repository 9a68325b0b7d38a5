//! Applying what happens to a mood.

use super::Felt;
use crate::constitution::Appraisal;
use crate::life::Life;
use crate::mortality::Senescence;

/// Appraises something, if this golem has moods at all.
pub(crate) fn feel(life: &mut Life, what: Felt) {
    if life.birth.constitution.affect.appraisal == Appraisal::RuleBased {
        let laws = life.laws();
        life.daimon.feel(what, laws);
    }
}

/// Adds what a tick alone makes felt (money running short, touch being lost), and moves the mood.
pub(crate) fn pass(life: &mut Life) {
    if life.birth.constitution.affect.appraisal != Appraisal::RuleBased {
        return;
    }
    let laws = life.laws();
    if life.purse.critical {
        life.daimon.feel(Felt::Anxiety, laws);
    }
    if life.epistemic.senescence != Senescence::Sound {
        life.daimon.feel(Felt::Dread, laws);
    }
    let keep = life.birth.constitution.affect.mood_keep;
    life.daimon.pass(keep);
}
