class Bardo < Formula
  desc "Budget, kill switch and memory for agents that run for a long time"
  homepage "@FROM@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_linux do
    on_intel do
      url "@FROM@/bardo-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SUM_X86_64@"
    end
    on_arm do
      url "@FROM@/bardo-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SUM_AARCH64@"
    end
  end
  # macos: begin
  on_macos do
    on_intel do
      url "@FROM@/bardo-@VERSION@-macos-x86_64.tar.gz"
      sha256 "@SUM_MACOS_X86_64@"
    end
    on_arm do
      url "@FROM@/bardo-@VERSION@-macos-arm64.tar.gz"
      sha256 "@SUM_MACOS_ARM64@"
    end
  end
  # macos: end

  def install
    bin.install "bardo", "bardo-chain"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bardo.bash" => "bardo"
    zsh_completion.install "completions/_bardo"
    fish_completion.install "completions/bardo.fish"
  end

  service do
    run [opt_bin/"bardo", "up"]
    keep_alive true
  end

  test do
    system bin/"bardo", "--home", testpath/"home", "init"
    assert_match "alive", shell_output("#{bin}/bardo demo --headless")
    assert_match "no chain.json", shell_output("#{bin}/bardo chain purse nowhere 2>&1", 1)
  end
end
