"""Self-summaries: found by their headings, taken out, every passage moved to where it stands then."""

from __future__ import annotations

import pytest

from chunking.segments import headings
from chunking.summaries import NAMES, arms, summary_spans
from chunking.types import Corpus, Document, Passage, Question
from data.bundled import bundled

TEXT = """# Tanks

The blue tank is full.

## Summary

Blue is full.

### More of it

Red is not.

## Pumps

Pumps run at night.

## 5. **Key takeaways:**

Pumps run."""
DOCUMENT = Document("tanks.md", TEXT)


def passage(text: str) -> Passage:
    return Passage("tanks.md", TEXT.index(text), TEXT.index(text) + len(text))


def texts(corpus: Corpus, question: Question) -> list[str]:
    return [corpus.by_id[one.document].text[one.start : one.end] for need in question.needs for one in need]


def cut_out(text: str, *names: str, markdown: bool = True) -> list[str]:
    spans = summary_spans(Document("d", text, markdown=markdown), names or NAMES)
    return [text[start:end] for start, end in zip(*(column.tolist() for column in spans), strict=True)]


def test_a_summary_goes_on_to_the_next_heading_of_its_level() -> None:
    assert cut_out(TEXT) == [TEXT[TEXT.index("## Summary") : TEXT.index("## Pumps")], TEXT[TEXT.index("## 5.") :]]


def test_the_names_can_be_others() -> None:
    assert cut_out(TEXT, "pumps") == [TEXT[TEXT.index("## Pumps") : TEXT.index("## 5.")]]
    assert cut_out(TEXT, "Pump") == []


@pytest.mark.parametrize("title", ["TL;DR", "tl;dr:", "In short", "3.1 Conclusion", "Conclusion.", "*Recap*"])
def test_case_numbers_and_marks_at_the_ends_do_not_count(title: str) -> None:
    assert cut_out(f"# T\n\nText.\n\n## {title}\n\nEnd.") == [f"## {title}\n\nEnd."]


@pytest.mark.parametrize("title", ["Summary of results", "In short supply", "A conclusion"])
def test_a_title_that_only_holds_a_name_is_none(title: str) -> None:
    assert cut_out(f"# T\n\nText.\n\n## {title}\n\nEnd.") == []


def test_plain_text_has_no_headings_and_so_no_summary() -> None:
    assert cut_out(TEXT, markdown=False) == []


def test_passages_are_moved_and_questions_answered_in_a_summary_leave_both_arms() -> None:
    kept_question = Question("q1", "When?", ((passage("Pumps run at night."),),), ((passage("Pumps run."), passage("The blue")),),
                             section=passage("## Pumps\n\nPumps run at night."))  # fmt: skip
    left = Question("q2", "Full?", ((passage("The blue tank is full."), passage("Blue is full.")),))
    several = Question("q3", "All?", ((passage("The blue tank"),), (passage("Red is not."),)))
    kept, removed, left_out = arms(Corpus((DOCUMENT,), (kept_question, left, several)))
    assert left_out == (left, several)
    assert kept.documents == (DOCUMENT,)
    assert removed.documents[0].text == "# Tanks\n\nThe blue tank is full.\n\n## Pumps\n\nPumps run at night.\n\n"
    assert [head.title for head in headings(removed.documents[0])] == ["Tanks", "Pumps"]
    for corpus in (kept, removed):
        (question,) = corpus.questions
        text = corpus.documents[0].text
        assert texts(corpus, question) == ["Pumps run at night."]
        assert [text[one.start : one.end] for one in question.also[0]] == ["The blue"]
        assert question.section is not None
        assert text[question.section.start : question.section.end] == "## Pumps\n\nPumps run at night."


def test_every_passage_of_the_bundled_posts_is_found_again() -> None:
    corpus, _ = bundled()
    kept, removed, left_out = arms(corpus)
    assert (len(kept.questions), len(left_out)) == (70, 10)
    assert [question.id for question in kept.questions] == [question.id for question in removed.questions]
    for before, after in zip(kept.questions, removed.questions, strict=True):
        assert texts(kept, before) == texts(removed, after)
    assert all("Key takeaways" not in [head.title for head in headings(document)] for document in removed.documents)


def test_a_summary_within_a_summary_is_cut_out_with_it() -> None:
    assert cut_out("# T\n\nText.\n\n## Conclusion\n\nSo.\n\n### In short\n\nSo.\n\n## More\n\nText.") == [
        "## Conclusion\n\nSo.\n\n### In short\n\nSo.\n\n"
    ]


def test_a_passage_that_only_reaches_into_a_summary_is_in_it() -> None:
    before = Question("q", "Full?", ((passage("tank is full.\n\n## Summary"),),))
    beside = Question("r", "Full?", ((passage("The blue tank is full.\n\n"),),))
    behind = Question("s", "Not?", ((passage("is not.\n\n## Pumps"),),))
    assert arms(Corpus((DOCUMENT,), (before, beside, behind))).left_out == (before, behind)
