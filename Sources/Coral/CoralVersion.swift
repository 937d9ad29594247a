/// The version of this package, such as `0.1.0`.
///
/// It stands here only: the command's `--version`, its man pages, the Debian package and `Scripts/release` take it from here. The
/// format of documents has a version of its own, ``DocumentHeader/currentVersion``, because equal data give equal documents whichever
/// release writes them.
public enum CoralVersion {
    /// The version that this build was made from.
    public static let current = "0.1.0"
}
