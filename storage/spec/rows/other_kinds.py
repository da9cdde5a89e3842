"""Files that hold no rows, by what their names end in or their bytes begin with: what each is, and what to do. Pure."""

TABLE = "Save it as .xlsx or .csv; .tsv, .json, .jsonl, .parquet, .xls, .ods and text in .gz can be read too."
_COPY = "Copy its table into a spreadsheet, and save that as .xlsx or .csv."
_CHOOSE = "Choose the file that has the rows, such as .xlsx, .csv, .jsonl or .parquet."
_UNPACK = "Unpack it, and choose the data file that is in it."
_AGAIN = "Save its rows as .xlsx, .csv or .parquet."
PICTURE, SOUND, PROGRAM = "a picture", "sound or video", "a program"
PDF, DOCUMENT, SLIDES, WEB_PAGE = "a PDF document", "a text document", "a presentation", "a web page"
ARCHIVE, DATABASE, ARROW = "an archive", "a database", "an Arrow file"
SHEET, CODE, WEIGHTS = "a spreadsheet of another kind", "code", "a model or other objects of Python"
# What to do with a file of each kind.
ADVICE = {
    PICTURE: _CHOOSE, SOUND: _CHOOSE, PROGRAM: _CHOOSE, PDF: _COPY, DOCUMENT: _COPY, SLIDES: _COPY, WEB_PAGE: _COPY,
    ARCHIVE: _UNPACK, DATABASE: _AGAIN, ARROW: _AGAIN, SHEET: "Save it as .xlsx or .csv.", WEIGHTS: _CHOOSE,
    CODE: f"{_CHOOSE} A training script or notebook can be imported with Import, at the top of New run.",
}  # fmt: skip
_ENDINGS = {
    PICTURE: "png jpg jpeg gif webp bmp tif tiff heic svg ico", SOUND: "mp3 wav ogg flac m4a mp4 mov avi mkv webm",
    PROGRAM: "exe dll msi so dmg apk deb rpm", PDF: "pdf", DOCUMENT: "doc docx odt rtf pages epub",
    SLIDES: "ppt pptx odp key", WEB_PAGE: "html htm mhtml", ARCHIVE: "zip 7z rar tar tgz bz2 xz zst lz4",
    DATABASE: "db sqlite sqlite3 mdb accdb", ARROW: "arrow feather", SHEET: "xlsb numbers xlsm gsheet",
    CODE: "py ipynb js sh r", WEIGHTS: "pkl pickle pt pth bin safetensors npy npz gguf",
}  # fmt: skip
_KINDS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}


def kind_by_name(name: str) -> str:
    """What a file is by how its name ends, such as “a picture”; "" where that is not known."""
    return _KINDS.get(name.lower().rpartition(".")[2], "") if "." in name else ""


def unreadable_kind(name: str) -> str:
    """What to say of a file that is of no kind that is read."""
    kind = kind_by_name(name)
    if kind:
        return f"“{name}” is {kind}, which holds no rows that can be read. {ADVICE[kind]}"
    if "." not in name.strip("."):
        return f"“{name}” has no ending that says what it is. Let a table of text end in .csv, a workbook in .xlsx."
    return f"“{name}” is of a kind that cannot be read. {TABLE}"
